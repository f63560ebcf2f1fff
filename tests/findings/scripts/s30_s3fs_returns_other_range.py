"""S30: s3fs returns the bytes of another range than the requested one."""

from misbehaving import s3fs_filesystem, serving

with serving(b"0123456789", shift_ranges=True) as server:
    fs = s3fs_filesystem(server)
    assert fs.cat_file("bucket/k", start=3, end=6) == b"234"  # expected b"345" or an error
    with fs.open("bucket/k", block_size=4) as file:
        file.seek(4)
        assert file.read(2) == b"34"  # expected b"45" or an error

for kind in ("ignore_ranges", "omit_content_range"):
    with serving(b"0123456789", **{kind: True}) as server:
        assert s3fs_filesystem(server).cat_file("bucket/k", start=3, end=6) == b"0123456789"
