"""S34: PyArrow returns another range than the requested one, and memory past the end."""

from misbehaving import pyarrow_filesystem, serving

DATA = b"0123456789"
seen = []
for kind, read in (
    ("shift_ranges", lambda file: file.read_at(3, 3)),
    ("overstate_length", lambda file: file.read()),
):
    with serving(DATA, **{kind: True}) as server:
        try:
            seen.append(read(pyarrow_filesystem(server).open_input_file("bucket/k")))
        except Exception as error:
            seen.append(error)
part, whole = seen
assert (isinstance(part, Exception) or part == b"345") and (
    isinstance(whole, Exception) or whole == DATA
), seen
