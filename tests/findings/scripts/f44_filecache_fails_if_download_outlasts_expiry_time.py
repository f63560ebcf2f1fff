"""F44: filecache fails to open a file whose download takes longer than expiry_time."""

import tempfile
import time
from pathlib import Path
from unittest import mock

import fsspec
from fsspec.implementations.local import LocalFileSystem


class Slow(LocalFileSystem):
    def get_file(self, rpath, lpath, **options):
        super().get_file(rpath, lpath, **options)
        time.time.return_value += 20  # the clock of this script


with tempfile.TemporaryDirectory() as directory, mock.patch("time.time", return_value=1000):
    file = Path(directory, "k")
    file.write_bytes(b"abc")
    fs = fsspec.filesystem("filecache", fs=Slow(), expiry_time=10)
    try:
        seen = fs.open(str(file)).read()
    except Exception as error:
        seen = error

assert seen == b"abc", repr(seen)
