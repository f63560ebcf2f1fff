"""F43: a block cache that renews its copy of a file that grew fails, instead of reading it."""

import itertools
import tempfile
import time
from pathlib import Path
from unittest import mock

import fsspec

RENEWING = {"check_files": True}, {"expiry_time": 100}

for cache, options in itertools.product(("filecache", "blockcache"), RENEWING):
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "k")
        file.write_bytes(b"abc")
        fs, path = fsspec.url_to_fs(f"{cache}::file://{file}", **{cache: options})
        assert fs.cat_file(path) == b"abc"
        file.write_bytes(b"abcdef")
        try:
            with mock.patch("time.time", return_value=time.time() + 200):
                assert fs.cat_file(path) == b"abcdef"  # expected of both
        except ValueError as error:
            assert cache == "blockcache", cache
            assert "mmap length is greater than file size" in str(error)
        else:
            assert cache == "filecache", "fixed"
