"""H5: RawLocalFileSystem skips past the end."""

from hadoop import path, raw

count = raw.open(path).skip(20_000)
assert 0 <= count <= 10_000, count
