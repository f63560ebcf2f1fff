"""L16: the read of a whole empty file never returns in indexed_gzip."""

import gzip
import subprocess
import sys
import tempfile

READ = """
import resource, sys, indexed_gzip
resource.setrlimit(resource.RLIMIT_CPU, (2, 2))  # seconds
print(indexed_gzip.IndexedGzipFile(sys.argv[1]).read())
"""

with tempfile.NamedTemporaryFile(suffix=".gz") as empty:
    empty.write(gzip.compress(b""))
    empty.flush()
    command = [sys.executable, "-c", READ, empty.name]
    seen = subprocess.run(command, capture_output=True, text=True).stdout or "does not end"
assert seen == "b''\n", seen
