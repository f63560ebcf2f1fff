"""L28: read() of an embedded file of tifffile returns bytes behind that file."""

import tempfile

from tifffile import FileHandle

with tempfile.NamedTemporaryFile() as file:
    file.write(b"before image after")
    file.flush()
    with FileHandle(file.name, offset=7, size=5) as embedded:
        seen = embedded.read(-1), embedded.seek(0), embedded.read(12)
assert seen == (b"image", 0, b"image"), seen
