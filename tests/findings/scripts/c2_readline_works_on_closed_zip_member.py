"""C2: readline works on a closed member of a zip file."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"one\ntwo\n")
file = archive.open("it")
file.read(1)
file.close()
try:
    seen = file.readline()
except Exception as error:
    seen = error

assert isinstance(seen, ValueError), repr(seen)
