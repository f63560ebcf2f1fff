"""F3: a file in memory that is opened for reading can be written."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe_file("/it", b"abcde")
try:
    seen = fs.open("/it", "rb").write(b"X")
except Exception as error:
    seen = error
data = fs.cat_file("/it")

right = isinstance(seen, OSError) and data == b"abcde"
assert right, [seen, data]
