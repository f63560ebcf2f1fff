"""S25: readers of PyArrow leave the Python files open that they opened."""

import io

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from fsspec.implementations.memory import MemoryFileSystem

opened = []


class Watched(MemoryFileSystem):
    """Keeps the files that it opens for reading, so that none is garbage-collected."""

    cachable = False

    def _open(self, path, mode="rb", **options):
        if mode != "rb":
            return super()._open(path, mode, **options)
        opened.append(io.BytesIO(self.cat_file(path)))
        return opened[-1]

    def cat_file(self, path, start=None, end=None, **options):
        with super()._open(path) as file:
            return file.getvalue()[start:end]


fs = Watched()
pq.write_table(pa.table({"n": [1, 2, 3]}), "/s25.parquet", filesystem=fs)
# without threads, which would keep the files for a while
pq.read_table("/s25.parquet", filesystem=fs, use_threads=False)
ds.dataset("/s25.parquet", filesystem=fs, format="parquet").to_table(use_threads=False)
closed = [file.closed for file in opened]
assert all(closed), closed
