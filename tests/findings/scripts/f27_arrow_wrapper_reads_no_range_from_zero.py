"""F27: ArrowFSWrapper reads no range that begins at 0."""

import tempfile

from fsspec.implementations.arrow import ArrowFSWrapper
from pyarrow.fs import LocalFileSystem

fs = ArrowFSWrapper(LocalFileSystem())
with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    assert fs.cat_file(made.name, 1, 3) == b"bc"
    try:
        fs.cat_file(made.name, 0, 3)  # expected b"abc"
    except OSError as error:
        assert "only valid on seekable files" in str(error)
    else:
        raise SystemExit("fixed")
