"""F16: fsspec's buffered files refuse a write with a plain ValueError."""

from fsspec.spec import AbstractBufferedFile

file = AbstractBufferedFile(None, "it", size=5)
try:
    seen = file.write(b"x")
except Exception as error:
    seen = error

assert isinstance(seen, OSError), repr(seen)
