"""C9: readinto() of the BufferedReader in Python's own io module in Python fails after a read."""

import _pyio
import tempfile


def outcome(call, argument):
    try:
        return call(argument)
    except Exception as error:
        return error


with tempfile.NamedTemporaryFile() as made:
    made.write(bytes(5000))
    made.flush()
    file = _pyio.open(made.name, "rb")
    file.read(1)
    count = outcome(file.readinto, bytearray(4096))
    closed = _pyio.open(made.name, "rb")
    closed.read(1)
    closed.close()
    after_close = outcome(closed.read, 1)

right = count == 4096 and isinstance(after_close, ValueError)
assert right, [count, after_close]
