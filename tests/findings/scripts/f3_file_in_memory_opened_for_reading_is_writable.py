"""F3: a file in memory that is opened for reading can be written."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe_file("/it", b"abcde")
assert fs.open("/it", "rb").write(b"X") == 1  # expected an OSError
assert fs.cat_file("/it") == b"Xbcde"
