"""L13: a read past the end of a Buffer of cramjam returns zeros."""

import cramjam

f = cramjam.Buffer(b"abc")
f.seek(5)
past = f.read(4)  # expected b""
f.seek(0)
try:
    f.readinto(bytearray(2))  # expected 2
    error = None
except OSError as raised:
    error = raised

print(past, repr(error))
assert past == b"\0\0\0\0"
assert "failed to write whole buffer" in str(error)
