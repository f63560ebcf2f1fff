"""C3: a negative seek in an archive moves to the start."""

import gzip
import io
import tarfile
import zipfile


def seek(file):
    try:
        return file.seek(-1)
    except Exception as error:
        return error


archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("it", b"abc")

made = io.BytesIO()
with tarfile.open(fileobj=made, mode="w") as tar:
    tar.addfile(tarfile.TarInfo("it"))
made.seek(0)

stored = io.BytesIO(gzip.compress(b"abc"))

files = [
    archive.open("it"),
    tarfile.open(fileobj=made).extractfile("it"),
    gzip.GzipFile(fileobj=stored),
]
seen = [seek(file) for file in files]

assert all(isinstance(each, (OSError, ValueError)) for each in seen), seen
