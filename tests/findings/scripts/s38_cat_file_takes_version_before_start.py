"""S38: cat_file of s3fs takes a version before the start. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
data = s3fs_filesystem().cat_file("bucket/k", 0, 2)
assert data == b"ab", data
