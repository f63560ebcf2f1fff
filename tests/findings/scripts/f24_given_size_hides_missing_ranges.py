"""F24: a given size hides that the server has no ranges. Argument: URL of a file of 9000 bytes."""

import sys

import fsspec

fs = fsspec.filesystem("http")
whole = fs.cat_file(sys.argv[1])
with fs.open(sys.argv[1], block_size=4096, size=9000) as file:
    try:
        seen = b"".join(iter(lambda: file.read(4096), b""))
    except Exception as error:
        seen = error

assert seen == whole, repr(seen)
