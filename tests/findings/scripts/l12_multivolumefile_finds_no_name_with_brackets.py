"""L12: multivolumefile can't read the volumes that it wrote if a name has brackets."""

import os
import tempfile

import multivolumefile

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "part[1].7z")
    with multivolumefile.open(path, mode="wb", volume=2) as file:
        file.write(b"abc")
    written = sorted(os.listdir(directory))
    try:
        with multivolumefile.open(path, mode="rb") as file:
            file.read()  # expected b"abc"
        error = None
    except IndexError as raised:
        error = raised

print(written, repr(error))
assert written == ["part[1].7z.0001", "part[1].7z.0002"]
assert isinstance(error, IndexError)
