"""C4: tell works on a closed member of a tar file."""

import io
import tarfile

made = io.BytesIO()
with tarfile.open(fileobj=made, mode="w") as tar:
    tar.addfile(tarfile.TarInfo("it"))
made.seek(0)
file = tarfile.open(fileobj=made).extractfile("it")
file.close()
try:
    seen = file.tell()
except Exception as error:
    seen = error

assert isinstance(seen, ValueError), repr(seen)
