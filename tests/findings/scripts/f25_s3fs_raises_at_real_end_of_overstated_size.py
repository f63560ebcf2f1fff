"""F25: s3fs raises at the real end of a file of overstated size. Argument: URL of the server."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
f = s3fs_filesystem().open("bucket/k", size=6)
assert f.read() == b"abcde"
try:
    f.read()  # expected b""
except OSError as error:
    assert "The requested range is not satisfiable" in str(error)
else:
    raise SystemExit("fixed")
