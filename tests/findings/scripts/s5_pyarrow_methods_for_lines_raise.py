"""S5: the methods for lines of a PyArrow file raise."""

import io
import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"one\ntwo\n")
    made.flush()
    f = LocalFileSystem().open_input_file(made.name)
    try:
        next(iter(f))  # expected a line
    except io.UnsupportedOperation:
        pass
    else:
        raise SystemExit("fixed")
