"""L17: a read of a deleted file ends the process in indexed_gzip."""

import gzip
import os
import subprocess
import sys
import tempfile

READ = """
import os, sys, indexed_gzip
file = indexed_gzip.IndexedGzipFile(sys.argv[1])
os.remove(sys.argv[1])
try:
    assert file.read(1) == b"a"
except FileNotFoundError:
    pass
"""

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "deleted.gz")
    with gzip.open(path, "wb") as made:
        made.write(b"abc")
    code = subprocess.run([sys.executable, "-c", READ, path]).returncode
assert code == 0, code
