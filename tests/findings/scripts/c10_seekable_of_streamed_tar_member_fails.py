"""C10: seekable() of a member of a streamed tar archive fails."""

import io
import tarfile

made = io.BytesIO()
with tarfile.open(fileobj=made, mode="w") as tar:
    member = tarfile.TarInfo("it")
    member.size = 3
    tar.addfile(member, io.BytesIO(b"abc"))
made.seek(0)
streamed = tarfile.open(fileobj=made, mode="r|")
file = streamed.extractfile(streamed.next())
try:
    seen = file.seekable()
except Exception as error:
    seen = error

assert seen is False, repr(seen)
