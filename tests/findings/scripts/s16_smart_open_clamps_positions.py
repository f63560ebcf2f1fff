"""S16: smart_open clamps positions to the file. Argument: server URL."""

import s3
import smart_open

s3.put("k", b"abcde")
f = smart_open.open("s3://bucket/k", "rb", transport_params={"client": s3.client})
try:
    negative = f.seek(-1)
except Exception as error:
    negative = error
past_end = f.seek(9)
assert isinstance(negative, (ValueError, OSError)) and past_end == 9, (negative, past_end)
