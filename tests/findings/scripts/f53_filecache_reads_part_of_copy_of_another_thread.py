"""F53: a second thread that opens a file through filecache reads a part of the copy."""

import threading

import fsspec
from fsspec.implementations.memory import MemoryFileSystem


class InTwoParts(MemoryFileSystem):
    """Copies files in two parts, with a pause between them."""

    cachable = False
    begun, goes_on = threading.Event(), threading.Event()

    def get_file(self, rpath, lpath, **options):
        data = self.cat_file(rpath)
        with open(lpath, "wb", buffering=0) as copy:
            copy.write(data[:4])
            self.begun.set()
            self.goes_on.wait(5)
            copy.write(data[4:])


behind = InTwoParts()
behind.pipe_file("/k", b"all bytes")
fs = fsspec.filesystem("filecache", fs=behind)
first = threading.Thread(target=lambda: fs.open("/k").close())
first.start()
behind.begun.wait(60)
with fs.open("/k") as second:
    data = second.read()
behind.goes_on.set()
first.join()

assert data == b"all bytes", data
