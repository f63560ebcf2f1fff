"""S33: PyArrow reads an object as empty if the server redirects, or tells no length."""

from misbehaving import pyarrow_filesystem, serving

DATA = b"0123456789"
seen = {}
for kind in ("redirect", "omit_length"):
    with serving(DATA, **{kind: True}) as server:
        try:
            seen[kind] = pyarrow_filesystem(server).open_input_file("bucket/k").read()
        except Exception as error:
            seen[kind] = error
assert all(isinstance(each, Exception) or each == DATA for each in seen.values()), seen
