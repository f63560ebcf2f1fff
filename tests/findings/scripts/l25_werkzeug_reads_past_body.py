"""L25: readinto() of a request body of Werkzeug reads bytes of the next request."""

import io
from array import array

from werkzeug.wsgi import LimitedStream

body = LimitedStream(io.BytesIO(b"bodyGET /next"), 4)
buffer = array("H", [0] * 4)
count = body.readinto(buffer)
seen = count, buffer.tobytes()
assert seen == (4, b"body" + bytes(4)), seen
