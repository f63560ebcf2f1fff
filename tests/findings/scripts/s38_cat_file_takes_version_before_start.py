"""S38: cat_file of s3fs takes a version before the start. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
fs = s3fs_filesystem()
assert fs.cat_file("bucket/k", start=0, end=2) == b"ab"
assert fs.cat_file("bucket/k", 0, 2) == b"cde"  # expected b"ab"
