"""L17: a read of a deleted file ends the process in indexed_gzip."""

import gzip
import os
import signal
import subprocess
import sys
import tempfile

READ = """
import os, sys, indexed_gzip
file = indexed_gzip.IndexedGzipFile(sys.argv[1])
os.remove(sys.argv[1])
file.read(1)  # expected b"a", or FileNotFoundError
"""

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "deleted.gz")
    with gzip.open(path, "wb") as made:
        made.write(b"abc")
    code = subprocess.run([sys.executable, "-c", READ, path], check=False).returncode

print("exit code", code)
assert code == -signal.SIGSEGV
