"""F15: tell and seek of fsspec's buffered files work after close."""

from fsspec.spec import AbstractBufferedFile

f = AbstractBufferedFile(None, "it", size=5)
f.close()
assert f.seek(3) == 3  # expected ValueError
assert f.tell() == 3  # expected ValueError
