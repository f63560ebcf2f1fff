"""F24: a given size hides that the server has no ranges. Argument: URL of a file of 9000 bytes."""

import sys

import fsspec

fs = fsspec.filesystem("http")
with fs.open(sys.argv[1], block_size=4096) as f:
    assert len(f.read(4096) + f.read(4096)) == 8192
with fs.open(sys.argv[1], block_size=4096, size=9000) as f:
    f.read(4096)
    try:
        f.read(4096)
    except ValueError as error:
        assert "doesn't appear to support range requests" in str(error)
    else:
        raise SystemExit("fixed")
