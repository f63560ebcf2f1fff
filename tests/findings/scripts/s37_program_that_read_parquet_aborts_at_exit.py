"""S37: a program that read Parquet from a Python file sometimes aborts at exit (SIGABRT)."""

import io

import pyarrow
import pyarrow.parquet

written = io.BytesIO()
pyarrow.parquet.write_table(pyarrow.table({"a": [1], "b": ["x"]}), written)
for _ in range(3):
    file = io.BytesIO(written.getvalue())
    pyarrow.parquet.ParquetFile(file, pre_buffer=False).read()
