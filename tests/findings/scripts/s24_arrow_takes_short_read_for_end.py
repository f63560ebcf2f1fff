"""S24: PyArrow takes a short read of a Python file for its end."""

import io

import pyarrow as pa
import pyarrow.parquet as pq


class ShortReads(io.BytesIO):
    """Returns up to 100 bytes from a read, as raw files, sockets and pipes may."""

    def read(self, size=-1):
        return super().read(100 if size is None or size < 0 else min(size, 100))


table = pa.table({"n": range(1000)})
parquet = io.BytesIO()
pq.write_table(table, parquet)
stream = io.BytesIO()
with pa.ipc.new_stream(stream, table.schema) as writer:
    writer.write_table(table)

seen = []
for read in (
    lambda: pq.read_table(ShortReads(parquet.getvalue())),
    lambda: pa.ipc.open_stream(ShortReads(stream.getvalue())).read_all(),
):
    try:
        seen.append(read())
    except Exception as error:
        seen.append(error)
assert seen == [table, table], seen
