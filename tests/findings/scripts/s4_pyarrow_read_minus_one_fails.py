"""S4: read(-1) of a PyArrow file fails."""

import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    f = LocalFileSystem().open_input_file(made.name)
try:
    seen = f.read(-1)
except Exception as error:
    seen = error
assert seen == b"abcde", repr(seen)
