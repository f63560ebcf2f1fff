"""F17: a streamed HTTP file claims to be seekable. Argument: URL of the file."""

import io
import sys

import fsspec


def outcome(name, *arguments):
    """Return what a method of a new stream returns or raises."""
    with fs.open(sys.argv[1], block_size=0) as file:
        try:
            return getattr(file, name)(*arguments)
        except Exception as error:
            return error


fs = fsspec.filesystem("http")
whole = fs.cat_file(sys.argv[1])
seen = [outcome("seekable"), outcome("seek", 1), outcome("read", None), outcome("readline")]

right = seen[0] == (seen[1] == 1) and seen[2:] == [whole, io.BytesIO(whole).readline()]
assert right, seen
