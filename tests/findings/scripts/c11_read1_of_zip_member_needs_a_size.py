"""C11: read1() of a member of a zip archive needs a size."""

import io
import zipfile

made = io.BytesIO()
with zipfile.ZipFile(made, "w") as archive:
    archive.writestr("it", b"abc")
file = zipfile.ZipFile(made).open("it")
try:
    seen = file.read1()
except Exception as error:
    seen = error

assert seen == b"abc", repr(seen)
