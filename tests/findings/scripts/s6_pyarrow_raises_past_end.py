"""S6: PyArrow raises one byte past the end of an object. Argument: server URL."""

from s3 import put, pyarrow_filesystem

put("k", b"abcde")
f = pyarrow_filesystem().open_input_file("bucket/k")
try:
    seen = f.read_at(1, 6)
except Exception as error:
    seen = error
assert seen == b"", repr(seen)
