"""C8: readline of a file with peek() returns more bytes than its limit."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"x" * 9000)
f = archive.open("it")
assert len(f.readline(5000)) == 5120  # expected 5000
