"""F43: a block cache that renews its copy of a file that grew fails, instead of reading it."""

import tempfile
import time
from pathlib import Path
from unittest import mock

import fsspec

seen = []
for options in ({"check_files": True}, {"expiry_time": 100}):
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "k")
        file.write_bytes(b"abc")
        fs, path = fsspec.url_to_fs(f"blockcache::file://{file}", blockcache=options)
        fs.cat_file(path)
        file.write_bytes(b"abcdef")
        try:
            with mock.patch("time.time", return_value=time.time() + 200):
                seen.append(fs.cat_file(path))
        except Exception as error:
            seen.append(error)

assert seen == [b"abcdef", b"abcdef"], seen
