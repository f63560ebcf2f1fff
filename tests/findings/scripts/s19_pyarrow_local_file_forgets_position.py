"""S19: a local file of PyArrow forgets its position after read_at."""

import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    f = LocalFileSystem().open_input_file(made.name)
f.read_at(1, 3)
try:
    seen = f.read(1)
except Exception as error:
    seen = error
assert seen == b"a", repr(seen)
