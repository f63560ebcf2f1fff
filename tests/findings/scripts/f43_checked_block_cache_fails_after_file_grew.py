"""F43: a block cache that checks files fails on a file that grew, instead of reading it again."""

import tempfile
from pathlib import Path

import fsspec

for cache in ("filecache", "blockcache"):
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "k")
        file.write_bytes(b"abc")
        fs, path = fsspec.url_to_fs(f"{cache}::file://{file}", **{cache: {"check_files": True}})
        assert fs.cat_file(path) == b"abc"
        file.write_bytes(b"abcdef")
        try:
            assert fs.cat_file(path) == b"abcdef"  # expected of both
        except ValueError as error:
            assert cache == "blockcache", cache
            assert "mmap length is greater than file size" in str(error)
        else:
            assert cache == "filecache", "fixed"
