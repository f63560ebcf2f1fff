"""L4: a reader of zstandard refuses an empty buffer, and tells a position after it was closed."""

import io

import zstandard

stored = zstandard.ZstdCompressor().compress(b"hello")
reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(stored))
try:
    count = reader.readinto(bytearray())  # expected 0
except zstandard.ZstdError as error:
    count = repr(error)
position = reader.seek(2)
reader.close()
after_close = reader.tell()  # expected ValueError

print(count, reader.seekable(), position, after_close)
assert count != 0
assert not reader.seekable()  # although it can seek forward
assert position == after_close == 2
