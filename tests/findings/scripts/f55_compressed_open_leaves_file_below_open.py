"""F55: closing a file of open(compression=) leaves the file below it open."""

import gzip
import io

from fsspec.implementations.memory import MemoryFileSystem

opened = []


class Files(MemoryFileSystem):
    def _open(self, path, mode="rb", **options):
        opened.append(io.BytesIO(gzip.compress(b"data")))
        return opened[-1]


with Files().open("/it.gz", compression="gzip") as file:
    assert file.read() == b"data"
closed = opened[-1].closed

assert closed, closed
