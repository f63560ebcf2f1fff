"""F8: `with` accepts a closed file."""

import tempfile

import fsspec
from fsspec.spec import AbstractBufferedFile


def enter(file):
    file.close()
    try:
        with file:
            return "entered"
    except Exception as error:
        return error


with tempfile.NamedTemporaryFile() as made:
    files = fsspec.filesystem("file").open(made.name), AbstractBufferedFile(None, "it", size=0)
    seen = [enter(file) for file in files]

assert all(isinstance(each, ValueError) for each in seen), seen
