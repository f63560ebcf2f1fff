"""L3: a seek of IndexedZstdFile past the end leaves the position where it was."""

import tempfile

import indexed_zstd
import zstandard

with tempfile.NamedTemporaryFile() as made:
    made.write(zstandard.ZstdCompressor().compress(b"hello"))
    made.flush()
    file = indexed_zstd.IndexedZstdFile(made.name)
    file.seek(3)
    returned = file.seek(7)
    read = file.read(2)
try:
    missing = indexed_zstd.IndexedZstdFile("/missing")
except Exception as error:
    missing = error
seen = returned, read, missing
assert (returned, read) == (7, b"") and isinstance(missing, OSError), seen
