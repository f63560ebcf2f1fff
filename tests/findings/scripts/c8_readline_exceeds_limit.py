"""C8: readline of a file with peek() returns more bytes than its limit."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"x" * 9000)
line = archive.open("it").readline(5000)

assert len(line) <= 5000, len(line)
