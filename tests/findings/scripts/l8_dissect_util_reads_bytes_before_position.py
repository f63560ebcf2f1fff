"""L8: read(-1) of a stream of dissect.util returns bytes that lie before its position."""

import io

from dissect.util.stream import BufferedStream

stream = BufferedStream(io.BytesIO(b"abc"))  # its size is unknown
stream.seek(2)
seen = [stream.read(-1), stream.tell()]
stream.seek(0)
seen += [stream.read(10), stream.tell()]
assert seen == [b"c", 3, b"abc", 3], seen
