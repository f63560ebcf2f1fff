"""F28: the file caches of fsspec keep a file that was changed or deleted."""

import tempfile
from pathlib import Path

import fsspec


def read():
    try:
        with fs.open(str(path)) as file:
            return file.read()
    except Exception as error:
        return error


seen = {}
with tempfile.TemporaryDirectory() as directory:
    path = Path(directory, "a")
    for cache in ("simplecache", "filecache"):
        fs = fsspec.filesystem(cache, target_protocol="file", cache_storage=f"{directory}/{cache}")
        path.write_bytes(b"old")
        read()
        path.write_bytes(b"newer")
        changed = read()
        path.unlink()
        seen[cache] = [changed, read()]

assert all(new == b"newer" and isinstance(gone, OSError) for new, gone in seen.values()), seen
