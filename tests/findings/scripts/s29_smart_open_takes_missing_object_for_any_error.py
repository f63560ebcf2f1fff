"""S29: smart_open raises a plain OSError for a missing object. Argument: server URL."""

import s3
import smart_open

options = {"transport_params": {"client": s3.client}}
try:
    smart_open.open("s3://bucket/missing", "rb", **options)
except OSError as error:
    assert not isinstance(error, FileNotFoundError)  # expected FileNotFoundError
else:
    raise SystemExit("fixed")
