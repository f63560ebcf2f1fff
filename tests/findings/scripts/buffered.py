"""A filesystem for scripts: `d/file` is `abcde`, read by a buffered file of fsspec."""

from fsspec.spec import AbstractBufferedFile, AbstractFileSystem


class File(AbstractBufferedFile):
    def _fetch_range(self, start, end):
        self.fs.requests += 1
        if self.fs.failing:
            self.fs.failing = False
            raise OSError("the connection is lost")
        return b"abcde"[start:end]


class Store(AbstractFileSystem):
    requests = 0
    failing = False

    def ls(self, path, detail=True, **options):
        if path == "":
            return [{"name": "d", "size": 0, "type": "directory"}]
        return [{"name": "d/file", "size": 5, "type": "file"}]

    def _open(self, path, mode="rb", **options):
        return File(self, path, mode, **options)
