"""C2: readline works on a closed member of a zip file."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"one\ntwo\n")
f = archive.open("it")
f.read(1)
f.close()
assert f.readline() == b"ne\n"  # expected ValueError
