"""S37: a program that read Parquet from a Python file sometimes aborts at exit (SIGABRT).

Slow calls make it certain: the program ends while a thread of Arrow still releases bytes of the
file. The interpreter then still finalizes.
"""

import subprocess
import sys

PROGRAM = """
import io, sys, time
import pyarrow, pyarrow.parquet

class Data(bytes):
    released = 0
    def __del__(self):
        Data.released += 1
        time.sleep(0.1)
        Data.released -= 1

class File(io.BytesIO):
    def read(self, size=-1):
        return Data(super().read(size))

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1)

sys.slow = Slow()
file = io.BytesIO()
pyarrow.parquet.write_table(pyarrow.table({"a": [1], "b": ["x"]}), file)
for _ in range(20):
    pyarrow.parquet.ParquetFile(File(file.getvalue()), pre_buffer=False).read()
    if Data.released:
        break
"""
code = subprocess.run([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE).returncode
assert code == 0, code
