"""S17: a closed body of boto3 reports a broken connection. Argument: server URL."""

import s3

s3.put("k", b"one\ntwo\n")
line = next(s3.client.get_object(Bucket="bucket", Key="k")["Body"])
body = s3.client.get_object(Bucket="bucket", Key="k")["Body"]
body.close()
try:
    closed = body.read(1)
except Exception as error:
    closed = error
assert isinstance(closed, ValueError) and line == b"one\n", (closed, line)
