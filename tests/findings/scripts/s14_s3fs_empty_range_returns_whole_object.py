"""S14: cat_file of s3fs returns the whole object for an empty range. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
assert s3fs_filesystem().cat_file("bucket/k", start=2, end=2) == b"abcde"  # expected b""
