"""S22: PyArrow returns uninitialised memory where an object was truncated. Argument: server URL."""

from s3 import put, pyarrow_filesystem

put("k", b"A" * 20_000)
f = pyarrow_filesystem().open_input_file("bucket/k")
put("k", b"B" * 100)
data = f.read_at(20_000, 0)
assert data[:100] == b"B" * 100
assert len(data) == 20_000  # expected 100 bytes or an OSError
