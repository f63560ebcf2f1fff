"""F2: a file in memory is never closed."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe_file("/it", b"abcde")
with fs.open("/it") as f:
    pass
assert f.closed is False  # expected True
f.close()
assert f.read() == b"abcde"  # expected ValueError
