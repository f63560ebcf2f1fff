"""S5: the methods for lines of a PyArrow file raise."""

import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"one\ntwo\n")
    made.flush()
    f = LocalFileSystem().open_input_file(made.name)
try:
    seen = list(f)
except Exception as error:
    seen = error
assert seen == [b"one\n", b"two\n"], repr(seen)
