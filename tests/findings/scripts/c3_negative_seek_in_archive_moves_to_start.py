"""C3: a negative seek in an archive moves to the start."""

import gzip
import io
import tarfile
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"abc")
assert archive.open("it").seek(-1) == 0  # expected ValueError

made = io.BytesIO()
tar = tarfile.open(fileobj=made, mode="w")
tar.addfile(tarfile.TarInfo("it"))
tar.close()
made.seek(0)
assert tarfile.open(fileobj=made).extractfile("it").seek(-1) == 0  # expected ValueError

stored = io.BytesIO(gzip.compress(b"abc"))
assert gzip.GzipFile(fileobj=stored).seek(-1) == 0  # expected ValueError
