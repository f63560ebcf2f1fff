"""C6: a seek past the end of a member of an archive moves to the end."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"abc")
assert archive.open("it").seek(9) == 3  # expected 9, as for any file
