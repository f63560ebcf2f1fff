"""S32: OpenDAL returns the bytes of another range than the requested one."""

from misbehaving import opendal_operator, serving

for kind, seen in {"shift_ranges": b"23", "ignore_ranges": b"01"}.items():
    with (
        serving(b"0123456789", **{kind: True}) as server,
        opendal_operator(server).open("k", "rb") as file,
    ):
        file.seek(3)
        assert file.read(2) == seen, kind  # expected b"34" or an error
