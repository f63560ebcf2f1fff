"""F13: cat_file at the end raises over HTTP. Argument: URL of a file of 9000 bytes."""

import sys

import fsspec

fs = fsspec.filesystem("http")
try:
    seen = fs.cat_file(sys.argv[1], 9000, 9001)
except Exception as error:
    seen = error

assert seen == b"", repr(seen)
