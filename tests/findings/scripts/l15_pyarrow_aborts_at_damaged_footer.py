"""L15: PyArrow aborts the process at the metadata of a column in a damaged footer."""

import io
import subprocess
import sys
import tempfile

import pyarrow
import pyarrow.parquet

OPTIONAL, REQUIRED = b"\x15\x04\x25\x02", b"\x15\x04\x25\x00"  # of a column of type INT64
COLUMN = """
import sys, pyarrow.parquet
try:
    pyarrow.parquet.read_metadata(sys.argv[1]).row_group(0).column(0)
except Exception:
    pass
"""

file = io.BytesIO()
pyarrow.parquet.write_table(pyarrow.table({"a": [1, None]}), file, store_schema=False)
with tempfile.NamedTemporaryFile(suffix=".parquet") as damaged:
    damaged.write(file.getvalue().replace(OPTIONAL, REQUIRED))
    damaged.flush()
    command = [sys.executable, "-c", COLUMN, damaged.name]
    code = subprocess.run(command, stderr=subprocess.PIPE).returncode
assert code == 0, code
