"""L16: the read of a whole empty file never returns in indexed_gzip."""

import gzip
import subprocess
import sys
import tempfile

READ = "import sys, indexed_gzip; print(indexed_gzip.IndexedGzipFile(sys.argv[1]).read())"

with tempfile.NamedTemporaryFile(suffix=".gz") as empty:
    empty.write(gzip.compress(b""))
    empty.flush()
    command = [sys.executable, "-c", READ, empty.name]
    try:
        seen = subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
    except subprocess.TimeoutExpired:
        seen = "does not end"
assert seen == "b''\n", seen
