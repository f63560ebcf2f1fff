"""L16: the read of a whole empty file never returns in indexed_gzip."""

import gzip
import subprocess
import sys
import tempfile

READ = "import sys, indexed_gzip as ig; print(ig.IndexedGzipFile(sys.argv[1]).read())"


def read(data: bytes) -> str:
    """Return the printed content of a file, or that the read did not end."""
    with tempfile.NamedTemporaryFile(suffix=".gz") as made:
        made.write(gzip.compress(data))
        made.flush()
        command = [sys.executable, "-c", READ, made.name]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout
        except subprocess.TimeoutExpired:
            return "does not end"


small, empty = read(b"a"), read(b"")
print(small, empty)
assert small == "b'a'\n"
assert empty == "does not end"  # expected b''
