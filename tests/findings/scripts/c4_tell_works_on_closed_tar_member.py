"""C4: tell works on a closed member of a tar file."""

import io
import tarfile

made = io.BytesIO()
tar = tarfile.open(fileobj=made, mode="w")
tar.addfile(tarfile.TarInfo("it"))
tar.close()
made.seek(0)
f = tarfile.open(fileobj=made).extractfile("it")
f.close()
assert f.tell() == 0  # expected ValueError
