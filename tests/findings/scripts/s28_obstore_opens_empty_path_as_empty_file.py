"""S28: with an empty path, obstore opens a bucket as an empty file. Argument: server URL."""

import obstore
from s3 import obstore_store, put

put("key", b"x")
try:
    seen = obstore.open_reader(obstore_store(), "").read(1)
except Exception as error:
    seen = error
assert isinstance(seen, Exception), seen
