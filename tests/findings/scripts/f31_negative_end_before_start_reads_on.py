"""F31: cat_file with a negative end before the start of the file returns the whole file."""

import tempfile
import zipfile

import fsspec

with tempfile.TemporaryDirectory() as directory:
    with zipfile.ZipFile(f"{directory}/a.zip", "w") as archive:
        archive.writestr("it", "abc")
    fs = fsspec.filesystem("zip", fo=f"{directory}/a.zip")
    seen = [fs.cat_file("it", 0, -3), fs.cat_file("it", 0, -10), fs.cat_file("it", 2, 1)]

assert seen == [b"", b"", b""], seen
