"""F11: cat_file returns the whole file if the server ignores ranges. Argument: URL of the file."""

import sys

import fsspec

fs = fsspec.filesystem("http")
whole = fs.cat_file(sys.argv[1])
data = fs.cat_file(sys.argv[1], 1, 5)

assert data == whole[1:5], len(data)
