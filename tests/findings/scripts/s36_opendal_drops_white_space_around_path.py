"""S36: OpenDAL drops white space around a path, and so reads and overwrites another file."""

import tempfile
from pathlib import Path

import opendal

with tempfile.TemporaryDirectory() as directory:
    (Path(directory) / "b").write_bytes(b"first")
    (Path(directory) / "b ").write_bytes(b"second")
    operator = opendal.Operator("fs", root=directory)
    assert operator.read("b ") == b"first"  # expected b"second"

memory = opendal.Operator("memory")
memory.write("b", b"first")
memory.write("b ", b"second")
assert memory.read("b") == b"second"  # expected b"first"
