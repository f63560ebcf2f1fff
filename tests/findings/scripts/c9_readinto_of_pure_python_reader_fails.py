"""C9: readinto() of the BufferedReader in Python's own io module in Python fails after a read."""

import _pyio
import tempfile

with tempfile.NamedTemporaryFile() as made:
    made.write(bytes(5000))
    made.flush()
    file = _pyio.open(made.name, "rb")
    file.read(1)
    try:
        count = file.readinto(bytearray(4096))  # expected 4096
    except ValueError as error:
        count = repr(error)
    closed = _pyio.open(made.name, "rb")
    closed.read(1)
    closed.close()
    after_close = closed.read(1)  # expected ValueError

print(count, after_close)
assert count != 4096
assert after_close == b"\0"
