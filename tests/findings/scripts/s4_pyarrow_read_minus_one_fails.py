"""S4: read(-1) of a PyArrow file fails."""

import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    f = LocalFileSystem().open_input_file(made.name)
    try:
        f.read(-1)  # expected b"abcde"
    except SystemError as error:
        print(error)
    else:
        raise SystemExit("fixed")
