"""F52: a second thread reads zeros through a block cache, in place of the bytes of the file."""

import threading

import fsspec
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile


class Slow(MemoryFileSystem):
    """Opens files without the bytes, and waits in the middle of a request."""

    cachable = False
    begun, goes_on = threading.Event(), threading.Event()

    def _open(self, path, mode="rb", **options):
        if mode != "rb":
            return super()._open(path, mode, **options)
        return AbstractBufferedFile(self, path, cache_type="none")

    def cat_ranges(self, paths, starts, ends, **options):
        self.begun.set()
        self.goes_on.wait(5)
        return [b"all bytes"[start:end] for start, end in zip(starts, ends, strict=True)]


behind = Slow()
behind.pipe_file("/k", b"all bytes")
fs = fsspec.filesystem("blockcache", fs=behind)
first = threading.Thread(target=lambda: fs.open("/k").read())
first.start()
behind.begun.wait(60)
data = fs.open("/k").read()
behind.goes_on.set()
first.join()

assert data == b"all bytes", data
