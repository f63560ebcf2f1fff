"""S23: read1() of a PyArrow file takes no negative size."""

import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"ab")
    made.flush()
    file = LocalFileSystem().open_input_file(made.name)
try:
    seen = file.read1(-1)
except Exception as error:
    seen = error
assert seen in (b"a", b"ab"), repr(seen)
