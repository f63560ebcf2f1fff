"""H5: RawLocalFileSystem skips past the end."""

from hadoop import path, raw

assert raw.open(path).skip(20_000) == 20_000  # expected 10000
