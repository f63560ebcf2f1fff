"""S33: PyArrow reads an object as empty if the server redirects, or tells no length."""

from misbehaving import pyarrow_filesystem, serving

for kind in ("redirect", "omit_length"):
    with (
        serving(b"0123456789", **{kind: True}) as server,
        pyarrow_filesystem(server).open_input_file("bucket/k") as file,
    ):
        assert file.read() == b"", kind  # expected b"0123456789" or an error
