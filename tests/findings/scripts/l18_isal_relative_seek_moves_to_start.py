"""L18: a relative seek far past the end moves a file of isal to the start."""

import gzip
import io

from isal import igzip

seen = {}
for opened in (gzip.GzipFile, igzip.IGzipFile):
    file = opened(fileobj=io.BytesIO(gzip.compress(b"ab")))
    file.read(1)
    seen[opened.__name__] = file.seek(2**63 - 1, 1), file.read()

print(seen)
assert seen["GzipFile"] == (2, b"")  # the end, the last position that it can have
assert seen["IGzipFile"] == (0, b"ab")
