"""H18: skip(Long.MAX_VALUE) raises EOFException after the first byte of a local file."""

from hadoop import local, path, raises, raw

largest = 2**63 - 1
for filesystem in (raw, local):
    f = filesystem.open(path)
    assert f.read() == 0
    # expected 9999
    assert raises("java.io.EOFException", lambda f=f: f.skip(largest))
assert local.open(path).skip(largest) == 10_000
assert raises("java.io.IOException", lambda: raw.open(path).skip(largest))  # expected 10000
