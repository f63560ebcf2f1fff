"""F4: read_block more than one byte past the end raises ValueError."""

import tempfile

import fsspec

fs = fsspec.filesystem("file")
with tempfile.NamedTemporaryFile() as empty:
    try:
        seen = fs.read_block(empty.name, 2, 1)
    except Exception as error:
        seen = error

assert seen == b"" or isinstance(seen, EOFError), repr(seen)
