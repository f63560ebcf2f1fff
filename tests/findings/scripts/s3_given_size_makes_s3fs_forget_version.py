"""S3: with a given size s3fs does not notice that an object is replaced. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"A" * 20_000)
f = s3fs_filesystem().open("bucket/k", cache_type="none", size=20_000)
f.read(1000)
put("k", b"B" * 20_000)
f.seek(19_990)
try:
    seen = f.read(10)
except OSError as error:  # FileExpired, as without a size
    seen = error
assert isinstance(seen, OSError) or seen == b"A" * 10, seen
