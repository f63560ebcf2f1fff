"""L26: read(0) of a request body of Werkzeug says that the client has disconnected."""

import io

from werkzeug.exceptions import ClientDisconnected
from werkzeug.wsgi import LimitedStream

body = LimitedStream(io.BytesIO(b"body"), 4)
try:
    seen: object = body.read(0)
except ClientDisconnected as error:
    seen = error
assert seen == b"", seen
