"""S31: s3fs and obstore return the bytes of a body that was compressed on the way."""

from misbehaving import obstore_store, s3fs_filesystem, serving

with serving(b"0123456789", gzip_bodies=True) as server:
    # Content-Range: bytes 3-5/10, Content-Encoding: gzip, Content-Length: 23
    data = s3fs_filesystem(server).cat_file("bucket/k", start=3, end=6)
    assert data[:2] == b"\x1f\x8b"  # expected b"345" or an error
    data = bytes(obstore_store(server).get_range("k", start=3, end=6))
    assert data[:2] == b"\x1f\x8b"
    assert len(data) > 3
