"""S15: a read past the end through the mmap cache fails. Argument: server URL."""

from s3 import put, s3fs_filesystem

put("k", b"abcde")
f = s3fs_filesystem().open("bucket/k", cache_type="mmap", block_size=4096)
f.read(1)
try:
    seen = f.read(4096)
except Exception as error:
    seen = error
assert seen == b"bcde", repr(seen)
