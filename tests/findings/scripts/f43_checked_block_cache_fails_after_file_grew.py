"""F43: a block cache that renews its copy of a file that grew fails, instead of reading it again."""

import itertools
import tempfile
from pathlib import Path

import fsspec

RENEWING = {"check_files": True}, {"expiry_time": 1e-6}

for cache, options in itertools.product(("filecache", "blockcache"), RENEWING):
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "k")
        file.write_bytes(b"abc")
        fs, path = fsspec.url_to_fs(f"{cache}::file://{file}", **{cache: options})
        assert fs.cat_file(path) == b"abc"
        file.write_bytes(b"abcdef")
        try:
            assert fs.cat_file(path) == b"abcdef"  # expected of both
        except ValueError as error:
            assert cache == "blockcache", cache
            assert "mmap length is greater than file size" in str(error)
        else:
            assert cache == "filecache", "fixed"
