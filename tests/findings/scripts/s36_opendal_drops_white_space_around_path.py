"""S36: OpenDAL drops white space around a path, and so reads and overwrites another file."""

import tempfile
from contextlib import suppress
from pathlib import Path

import opendal

with tempfile.TemporaryDirectory() as directory:
    other = Path(directory) / "b"
    other.write_bytes(b"first")
    (Path(directory) / "b ").write_bytes(b"second")
    operator = opendal.Operator("fs", root=directory)
    try:
        read = operator.read("b ")
    except Exception as error:
        read = error
    with suppress(Exception):  # a service may refuse the name
        operator.write("b ", b"third")
    left = other.read_bytes()
assert read != b"first" and left == b"first", (read, left)
