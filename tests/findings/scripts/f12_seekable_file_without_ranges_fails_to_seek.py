"""F12: a file is seekable although the server ignores ranges. Argument: URL of the file."""

import sys

import fsspec

fs = fsspec.filesystem("http")
with fs.open(sys.argv[1], block_size=4096) as f:
    assert f.seekable()
    assert f.seek(1) == 1  # expected UnsupportedOperation
    try:
        f.read(1)
    except ValueError as error:
        assert "doesn't appear to support range requests" in str(error)
    else:
        raise SystemExit("fixed")
