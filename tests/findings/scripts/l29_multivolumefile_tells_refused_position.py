"""L29: after a refused seek, tell() of multivolumefile returns the refused position."""

import tempfile
from contextlib import suppress

import multivolumefile

with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/file"
    with multivolumefile.open(path, mode="wb", volume=4) as file:
        file.write(b"0123456789")
    with multivolumefile.open(path, mode="rb") as file:
        with suppress(OSError):
            file.seek(2**63)
        at = file.tell()
        seen = at, file.read(1)
assert seen in [(at, b"0123456789"[at : at + 1]) for at in range(11)], seen
