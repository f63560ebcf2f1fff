"""F29: obstore's filesystem for fsspec opens a directory as an empty file."""

from obstore.fsspec import FsspecStore

fs = FsspecStore("memory")
fs.pipe_file("/directory/file", b"x")
for path in ("/directory", ""):
    assert fs.open(path, "rb").read() == b""  # expected an OSError
