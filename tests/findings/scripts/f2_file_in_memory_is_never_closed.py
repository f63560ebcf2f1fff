"""F2: a file in memory is never closed."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe_file("/it", b"abcde")
with fs.open("/it") as file:
    pass
closed = file.closed
file.close()
try:
    data = file.read()
except Exception as error:
    data = error

right = closed and isinstance(data, ValueError)
assert right, [closed, data]
