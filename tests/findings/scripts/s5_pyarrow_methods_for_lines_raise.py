"""S5: the methods for lines of a PyArrow file raise."""

import io
import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"one\ntwo\n")
    made.flush()
    f = LocalFileSystem().open_input_file(made.name)
    for call in (f.readline, f.readlines, lambda: next(iter(f))):
        try:
            call()  # expected lines
        except io.UnsupportedOperation:
            pass
        else:
            raise SystemExit("fixed")
