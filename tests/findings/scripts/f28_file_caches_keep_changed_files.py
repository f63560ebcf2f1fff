"""F28: the file caches of fsspec keep a file that was changed or deleted."""

import tempfile
from pathlib import Path

import fsspec

with tempfile.TemporaryDirectory() as directory:
    path = Path(directory, "a")
    for cache in ("simplecache", "filecache"):
        path.write_bytes(b"old")
        fs = fsspec.filesystem(cache, target_protocol="file", cache_storage=f"{directory}/{cache}")
        with fs.open(str(path)) as file:
            assert file.read() == b"old"
        path.write_bytes(b"newer")
        with fs.open(str(path)) as file:
            assert file.read() == b"old"  # expected b"newer"
        path.unlink()
        with fs.open(str(path)) as file:  # expected FileNotFoundError
            assert file.read() == b"old"
