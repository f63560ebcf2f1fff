"""L4: a reader of zstandard refuses an empty buffer, and tells a position after it was closed."""

import io

import zstandard

stored = zstandard.ZstdCompressor().compress(b"hello")
reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(stored))
try:
    count = reader.readinto(bytearray())
except Exception as error:
    count = error
reader.close()
try:
    position = reader.tell()
except Exception as error:
    position = error
assert count == 0 and isinstance(position, ValueError), (count, position)
