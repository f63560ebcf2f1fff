"""C6: a seek past the end of a member of an archive moves to the end."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"abc")
position = archive.open("it").seek(9)

assert position == 9, position
