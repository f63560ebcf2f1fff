"""L6: cat_file() of fsspec-rs with a start after its end aborts the process; lines are missing."""

import subprocess
import sys
import tempfile

from fsspec_rs.local import LocalFileSystem

CAT = """
import sys
from fsspec_rs.local import LocalFileSystem
try:
    LocalFileSystem().cat_file(sys.argv[1], 2, 0)
except Exception:
    pass
"""

with tempfile.NamedTemporaryFile() as made:
    made.write(b"one\ntwo\n")
    made.flush()
    line = LocalFileSystem().open(made.name).readline()
    command = [sys.executable, "-c", CAT, made.name]
    code = subprocess.run(command, stderr=subprocess.PIPE).returncode
assert (line, code) == (b"one\n", 0), (line, code)
