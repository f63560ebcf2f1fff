"""S32: OpenDAL returns the bytes of another range than the requested one."""

from misbehaving import opendal_operator, serving

seen = {}
for kind in ("shift_ranges", "ignore_ranges"):
    with serving(b"0123456789", **{kind: True}) as server:
        try:
            file = opendal_operator(server).open("k", "rb")
            file.seek(3)
            seen[kind] = file.read(2)
        except Exception as error:
            seen[kind] = error
assert all(isinstance(each, Exception) or each == b"34" for each in seen.values()), seen
