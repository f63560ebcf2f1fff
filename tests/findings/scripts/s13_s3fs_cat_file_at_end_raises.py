"""S13: cat_file of s3fs raises at the end. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
try:
    seen = s3fs_filesystem().cat_file("bucket/k", start=5, end=6)
except Exception as error:
    seen = error
assert seen == b"", repr(seen)
