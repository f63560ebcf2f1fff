"""F46: get() of DirFileSystem ignores the slash at the end of a directory's path."""

import os
import tempfile

from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem


def copied(fs, path):
    """Return the local files that a copy of a directory makes."""
    with tempfile.TemporaryDirectory() as local:
        fs.get(path, f"{local}/", recursive=True)
        names = [os.path.join(at, name) for at, _, files in os.walk(local) for name in files]
        return [os.path.relpath(name, local).replace(os.sep, "/") for name in names]


behind = MemoryFileSystem()
behind.pipe_file("/d/source/subdir/subfile1", b"x")
fs = DirFileSystem("/d", behind)
files = copied(fs, "source/subdir/")

assert files == ["subfile1"], files
