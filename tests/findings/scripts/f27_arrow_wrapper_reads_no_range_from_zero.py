"""F27: ArrowFSWrapper reads no range that begins at 0."""

import tempfile

from fsspec.implementations.arrow import ArrowFSWrapper
from pyarrow.fs import LocalFileSystem

fs = ArrowFSWrapper(LocalFileSystem())
with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    try:
        seen = fs.cat_file(made.name, 0, 3)
    except Exception as error:
        seen = error

assert seen == b"abc", repr(seen)
