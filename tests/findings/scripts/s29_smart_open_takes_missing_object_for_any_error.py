"""S29: smart_open raises a plain OSError for a missing object. Argument: server URL."""

import s3
import smart_open

try:
    seen = smart_open.open("s3://bucket/missing", "rb", transport_params={"client": s3.client})
except Exception as error:
    seen = error
assert isinstance(seen, FileNotFoundError), repr(seen)
