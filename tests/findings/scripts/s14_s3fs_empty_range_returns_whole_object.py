"""S14: cat_file of s3fs returns the whole object for an empty range. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
data = s3fs_filesystem().cat_file("bucket/k", start=2, end=2)
assert data == b"", data
