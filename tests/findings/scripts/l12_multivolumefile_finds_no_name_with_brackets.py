"""L12: multivolumefile can't read the volumes that it wrote if a name has brackets."""

import os
import tempfile

import multivolumefile

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "part[1].7z")
    with multivolumefile.open(path, mode="wb", volume=2) as file:
        file.write(b"abc")
    try:
        with multivolumefile.open(path, mode="rb") as file:
            seen = file.read()
    except Exception as error:
        seen = error
assert seen == b"abc", repr(seen)
