"""S23: read1() of a PyArrow file takes no negative size."""

import tempfile

from pyarrow.fs import LocalFileSystem

with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    with LocalFileSystem().open_input_file(made.name) as file:
        assert file.read1(2) == b"ab"
        try:
            file.read1(-1)  # expected 1 to 3 bytes
        except SystemError as error:
            assert "Negative size" in str(error)
        else:
            raise SystemExit("fixed")
