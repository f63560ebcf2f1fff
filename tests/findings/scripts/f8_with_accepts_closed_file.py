"""F8: `with` accepts a closed file."""

import tempfile

import fsspec
from fsspec.spec import AbstractBufferedFile

with tempfile.NamedTemporaryFile() as made:
    for f in (
        fsspec.filesystem("file").open(made.name),
        AbstractBufferedFile(None, "it", size=0),
    ):
        f.close()
        with f:  # expected ValueError, as for files of open()
            assert f.closed
