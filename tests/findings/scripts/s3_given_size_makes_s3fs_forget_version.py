"""S3: with a given size s3fs does not notice that an object is replaced. Argument: server URL."""

from s3 import put, s3fs_filesystem
from s3fs.utils import FileExpired

for options in ({}, {"size": 20_000}):
    put("k", b"A" * 20_000)
    f = s3fs_filesystem().open("bucket/k", cache_type="none", **options)
    f.read(1000)
    put("k", b"B" * 20_000)
    f.seek(19_000)
    try:
        data = f.read(1000)
    except FileExpired:
        data = None
    assert data == (b"B" * 1000 if options else None)  # expected FileExpired both times
