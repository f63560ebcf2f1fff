"""F16: fsspec's buffered files refuse a write with a plain ValueError."""

from fsspec.spec import AbstractBufferedFile

f = AbstractBufferedFile(None, "it", size=5)
try:
    f.write(b"x")
except ValueError as error:
    assert not isinstance(error, OSError)  # expected io.UnsupportedOperation, which is both
else:
    raise SystemExit("fixed")
