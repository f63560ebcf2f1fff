"""S34: PyArrow returns another range than the requested one, and memory past the end."""

from misbehaving import pyarrow_filesystem, serving

with (
    serving(b"0123456789", shift_ranges=True) as server,
    pyarrow_filesystem(server).open_input_file("bucket/k") as file,
):
    assert file.read_at(3, 3) == b"234"  # expected b"345" or an error

with (
    serving(b"0123456789", overstate_length=True) as server,
    pyarrow_filesystem(server).open_input_file("bucket/k") as file,
):
    data = file.read()
    assert data[:10] == b"0123456789"
    assert len(data) == 21  # expected 10 bytes, or an error
