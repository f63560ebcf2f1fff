"""L8: read(-1) of a stream of dissect.util returns bytes that lie before its position."""

import io

from dissect.util.stream import BufferedStream

stream = BufferedStream(io.BytesIO(b"abc"))  # its size is unknown
stream.seek(2)
rest = stream.read(-1)  # expected b"c"
position = stream.tell()  # expected 3
stream.seek(0)
start = stream.read(10)
after = stream.tell()  # expected 3

print(rest, position, start, after)
assert rest == b"abc"
assert position > 3
assert start == b"abc"
assert after == 10
