"""L6: cat_file() of fsspec-rs with a start after its end aborts the process; lines are missing."""

import subprocess
import sys
import tempfile

from fsspec_rs.local import LocalFileSystem

CAT = """
import sys
from fsspec_rs.local import LocalFileSystem
LocalFileSystem().cat_file(sys.argv[1], 2, 0)
"""

with tempfile.NamedTemporaryFile() as made:
    made.write(b"one\ntwo\n")
    made.flush()
    line = LocalFileSystem().open(made.name).readline()  # expected b"one\n"
    command = [sys.executable, "-c", CAT, made.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

print(line, done.returncode, done.stderr[-200:])
assert line == b""
assert done.returncode == -6  # expected 0
