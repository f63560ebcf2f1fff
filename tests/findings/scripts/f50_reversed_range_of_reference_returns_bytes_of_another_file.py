"""F50: a range of a reference whose start is after its end has bytes of the next file."""

import tempfile
from pathlib import Path

import fsspec

with tempfile.TemporaryDirectory() as directory:
    Path(directory, "pack").write_bytes(b"abcdSECRET")
    parts = {"mine": [f"file://{directory}/pack", 0, 4]}
    fs = fsspec.filesystem("reference", fo=parts, remote_protocol="file")
    data = fs.cat_file("mine", 2, 1)

assert data == b"", data
