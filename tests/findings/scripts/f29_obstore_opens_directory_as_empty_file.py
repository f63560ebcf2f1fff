"""F29: obstore's filesystem for fsspec opens a directory as an empty file."""

from obstore.fsspec import FsspecStore


def read(path):
    try:
        return fs.open(path, "rb").read()
    except Exception as error:
        return error


fs = FsspecStore("memory")
fs.pipe_file("/directory/file", b"x")
seen = [read("/directory"), read("")]

right = isinstance(seen[0], OSError) and isinstance(seen[1], (OSError, ValueError))
assert right, seen
