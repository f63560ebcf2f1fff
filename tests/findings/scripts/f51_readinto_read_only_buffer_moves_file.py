"""F51: a readinto of fsspec's buffered files that refuses its buffer moves the file."""

import tempfile
from pathlib import Path

import fsspec

with tempfile.TemporaryDirectory() as directory:
    Path(directory, "pack").write_bytes(b"abcdef")
    parts = {"it": [f"file://{directory}/pack", 0, 4]}
    file = fsspec.filesystem("reference", fo=parts, remote_protocol="file").open("it")
    try:
        file.readinto(bytes(2))  # read-only
    except TypeError:
        pass
    position = file.tell()

assert position == 0, position
