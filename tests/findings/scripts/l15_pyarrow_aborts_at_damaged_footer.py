"""L15: PyArrow aborts the process at the metadata of a column in a damaged footer."""

import io
import signal
import subprocess
import sys
import tempfile

import pyarrow
import pyarrow.parquet

OPTIONAL, REQUIRED = b"\x15\x04\x25\x02", b"\x15\x04\x25\x00"  # of a column of type INT64
COLUMN = "import sys, pyarrow.parquet as p; p.read_metadata(sys.argv[1]).row_group(0).column(0)"

file = io.BytesIO()
pyarrow.parquet.write_table(pyarrow.table({"a": [1, None]}), file, store_schema=False)
with tempfile.NamedTemporaryFile(suffix=".parquet") as damaged:
    damaged.write(file.getvalue().replace(OPTIONAL, REQUIRED))
    damaged.flush()
    try:
        pyarrow.parquet.read_table(damaged.name)
        error = None
    except OSError as raised:
        error = raised  # expected from the metadata, too
    ended = subprocess.run([sys.executable, "-c", COLUMN, damaged.name], capture_output=True)

print(repr(error), ended.returncode)
assert "Definition level histogram size mismatch" in str(error)
assert ended.returncode == -signal.SIGABRT
