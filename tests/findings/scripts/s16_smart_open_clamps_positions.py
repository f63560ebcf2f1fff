"""S16: smart_open clamps positions to the file. Argument: server URL."""

import s3
import smart_open

s3.put("k", b"abcde")
f = smart_open.open("s3://bucket/k", "rb", transport_params={"client": s3.client})
assert f.seek(-1) == 0  # expected ValueError
assert f.seek(9) == 5  # expected 9
