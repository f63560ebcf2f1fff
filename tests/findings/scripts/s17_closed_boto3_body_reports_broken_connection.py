"""S17: a closed body of boto3 reports a broken connection. Argument: server URL."""

import s3
from botocore.exceptions import IncompleteReadError

s3.put("k", b"one\ntwo\n")
body = s3.client.get_object(Bucket="bucket", Key="k")["Body"]
body.close()
try:
    body.read(1)
except IncompleteReadError as error:
    assert not isinstance(error, (ValueError, OSError))  # expected ValueError
else:
    raise SystemExit("fixed")
body = s3.client.get_object(Bucket="bucket", Key="k")["Body"]
assert next(body) == b"one\ntwo\n"  # expected b"one\n"
