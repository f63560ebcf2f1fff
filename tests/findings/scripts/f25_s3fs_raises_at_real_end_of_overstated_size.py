"""F25: s3fs raises at the real end of a file of overstated size. Argument: URL of the server."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
file = s3fs_filesystem().open("bucket/k", size=6)
assert file.read() == b"abcde"
try:
    seen = file.read()
except Exception as error:
    seen = error

assert seen == b"", repr(seen)
