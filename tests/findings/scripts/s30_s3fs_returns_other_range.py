"""S30: s3fs returns the bytes of another range than the requested one."""

from misbehaving import s3fs_filesystem, serving


def cat(fs):
    return fs.cat_file("bucket/k", start=3, end=6)


def read(fs):
    with fs.open("bucket/k", block_size=4) as file:
        file.seek(3)
        return file.read(3)


seen = {}
for call, kind in (
    (cat, "shift_ranges"),
    (read, "shift_ranges"),
    (cat, "ignore_ranges"),
    (cat, "omit_content_range"),
):
    with serving(b"0123456789", **{kind: True}) as server:
        try:
            seen[call.__name__, kind] = call(s3fs_filesystem(server))
        except Exception as error:
            seen[call.__name__, kind] = error
assert all(isinstance(each, Exception) or each == b"345" for each in seen.values()), seen
