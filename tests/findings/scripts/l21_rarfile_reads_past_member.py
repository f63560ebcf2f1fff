"""L21: readinto() of a stored member of rarfile reads bytes of the archive behind the member."""

import io
import struct
import zlib
from array import array

import rarfile


def block(header: bytes) -> bytes:
    """Return a header of RAR 4 with its checksum."""
    return struct.pack("<H", zlib.crc32(header) & 0xFFFF) + header


data = b"data"
sizes = struct.pack("<LLBL", len(data), len(data), 3, zlib.crc32(data))
method = struct.pack("<LBBHL", 0x5A210000, 20, 0x30, 1, 0o100644)
archive = (
    *(b"Rar!\x1a\x07\x00", block(struct.pack("<BHHHL", 0x73, 0, 13, 0, 0))),
    *(block(struct.pack("<BHH", 0x74, 0x8000, 33) + sizes + method + b"f"), data),
    block(struct.pack("<BHH", 0x7B, 0x4000, 7)),
)
file = rarfile.RarFile(io.BytesIO(b"".join(archive))).open("f")
buffer = array("H", [0] * 4)
count = file.readinto(buffer)
seen = count, buffer.tobytes()
assert seen == (4, b"data" + bytes(4)), seen
