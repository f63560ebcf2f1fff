"""C10: seekable() of a member of a streamed tar archive fails."""

import io
import tarfile

made = io.BytesIO()
tar = tarfile.open(fileobj=made, mode="w")
member = tarfile.TarInfo("it")
member.size = 3
tar.addfile(member, io.BytesIO(b"abc"))
tar.close()
made.seek(0)
streamed = tarfile.open(fileobj=made, mode="r|")
f = streamed.extractfile(streamed.next())
assert f.read(1) == b"a"
try:
    f.seekable()  # expected False
    error = None
except AttributeError as raised:
    error = raised

print(repr(error))
assert isinstance(error, AttributeError)
