"""S13: cat_file of s3fs raises at the end. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
try:
    s3fs_filesystem().cat_file("bucket/k", start=5, end=6)  # expected b""
except OSError as error:
    assert "The requested range is not satisfiable" in str(error)
else:
    raise SystemExit("fixed")
