"""F17: a streamed HTTP file claims to be seekable. Argument: URL of the file."""

import sys

import fsspec

with fsspec.filesystem("http").open(sys.argv[1], block_size=0) as f:
    assert f.seekable()  # expected False
    assert f.read(None) == b""  # expected all bytes
    try:
        f.readline()
    except ValueError as error:
        assert "Cannot seek streaming HTTP file" in str(error)
    else:
        raise SystemExit("fixed")
