"""L1: readline() of pysam's BGZFile past the end returns memory of the process, or crashes it."""

import subprocess
import sys
import tempfile

import pysam

READ = """
import pysam, sys
file = pysam.BGZFile(sys.argv[1], "rb")
try:
    file.seek(6)
    print(len(file.readline()))
except (OSError, ValueError):
    print(0)
"""

with tempfile.NamedTemporaryFile(suffix=".gz") as made:
    with pysam.BGZFile(made.name, "wb") as file:
        file.write(b"line\n")
    command = [sys.executable, "-c", READ, made.name]
    done = subprocess.run(command, capture_output=True, text=True)
seen = done.returncode, done.stdout
assert seen == (0, "0\n"), seen
