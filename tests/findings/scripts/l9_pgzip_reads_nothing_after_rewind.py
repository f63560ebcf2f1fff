"""L9: a file of pgzip that was read to its end and is rewound is empty."""

import gzip
import os
import tempfile

import pgzip

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "a.gz")
    with open(path, "wb") as file:
        file.write(gzip.compress(b"abc"))
    with pgzip.open(path) as f:
        first = f.read(3), f.read()
        f.seek(0)
        again = f.read()  # expected b"abc"

print(first, again)
assert first == (b"abc", b"")
assert again == b""
