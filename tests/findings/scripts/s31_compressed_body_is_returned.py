"""S31: s3fs and obstore return the bytes of a body that was compressed on the way."""

from misbehaving import obstore_store, s3fs_filesystem, serving

seen = []
with serving(b"0123456789", gzip_bodies=True) as server:
    # Content-Range: bytes 3-5/10, Content-Encoding: gzip, Content-Length: 23
    for read in (
        lambda: s3fs_filesystem(server).cat_file("bucket/k", start=3, end=6),
        lambda: obstore_store(server).get_range("k", start=3, end=6),
    ):
        try:
            seen.append(bytes(read()))
        except Exception as error:
            seen.append(error)
assert all(isinstance(each, Exception) or each == b"345" for each in seen), seen
