"""L20: read(-1) of a RangeOfInputStream of b2sdk returns bytes behind the range."""

import io

from b2sdk._internal.stream.range import RangeOfInputStream

file = RangeOfInputStream(io.BytesIO(b"before part after"), 7, 4)
seen = file.read(-1)
assert seen == b"part", seen
