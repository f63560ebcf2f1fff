"""F13: cat_file at the end raises over HTTP. Argument: URL of a file of 9000 bytes."""

import sys

import fsspec

fs = fsspec.filesystem("http")
try:
    fs.cat_file(sys.argv[1], 9000, 9001)  # expected b""
except Exception as error:
    assert not isinstance(error, (OSError, EOFError))
    assert error.status == 416
else:
    raise SystemExit("fixed")
