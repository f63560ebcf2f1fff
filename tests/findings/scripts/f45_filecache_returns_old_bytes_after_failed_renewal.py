"""F45: after one failed renewal, filecache returns old bytes though it checks files."""

import tempfile
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem


class Fails(LocalFileSystem):
    fails = False

    def get_file(self, rpath, lpath, **options):
        if self.fails:
            raise OSError("connection lost")
        super().get_file(rpath, lpath, **options)


with tempfile.TemporaryDirectory() as directory:
    file = Path(directory, "k")
    file.write_bytes(b"old")
    behind = Fails()
    fs = fsspec.filesystem("filecache", fs=behind, check_files=True)
    fs.cat_file(str(file))
    file.write_bytes(b"new bytes")
    behind.fails = True
    try:
        fs.cat_file(str(file))
    except OSError:
        pass
    behind.fails = False
    data = fs.cat_file(str(file))

assert data == b"new bytes", data
