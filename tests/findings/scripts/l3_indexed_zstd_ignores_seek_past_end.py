"""L3: a seek of IndexedZstdFile past the end leaves the position where it was."""

import tempfile

import indexed_zstd
import zstandard

with tempfile.NamedTemporaryFile() as made:
    made.write(zstandard.ZstdCompressor().compress(b"hello"))
    made.flush()
    file = indexed_zstd.IndexedZstdFile(made.name)
    file.seek(3)
    returned = file.seek(7)  # expected 7, or 5
    read = file.read(2)  # expected b""

try:
    indexed_zstd.IndexedZstdFile("/missing")
except Exception as error:
    raised = error

print(returned, read, repr(raised))
assert returned == 3
assert read == b"lo"
assert isinstance(raised, ValueError)  # expected FileNotFoundError
