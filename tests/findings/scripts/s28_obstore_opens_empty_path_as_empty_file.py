"""S28: with an empty path, obstore opens a bucket as an empty file. Argument: server URL."""

import obstore
from s3 import obstore_store, put

put("key", b"x")
reader = obstore.open_reader(obstore_store(), "")  # expected an error
assert bytes(reader.read(1)) == b""
