"""F4: read_block more than one byte past the end raises ValueError."""

import tempfile

import fsspec

fs = fsspec.filesystem("file")
with tempfile.NamedTemporaryFile() as empty:
    assert fs.read_block(empty.name, 0, 1) == b""
    try:
        fs.read_block(empty.name, 2, 1)  # expected b""
    except ValueError as error:
        assert "read length must be non-negative or -1" in str(error)
    else:
        raise SystemExit("fixed")
