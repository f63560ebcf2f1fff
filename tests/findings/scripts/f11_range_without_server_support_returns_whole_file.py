"""F11: cat_file returns the whole file if the server ignores ranges. Argument: URL of the file."""

import sys

import fsspec

fs = fsspec.filesystem("http")
assert len(fs.cat_file(sys.argv[1], 1, 5)) == 9000  # expected 4 bytes
