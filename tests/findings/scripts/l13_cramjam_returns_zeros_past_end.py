"""L13: a read past the end of a Buffer of cramjam returns zeros."""

import cramjam

f = cramjam.Buffer(b"abc")
f.seek(5)
past_end = f.read(4)
f.seek(0)
try:
    count = f.readinto(bytearray(2))
except Exception as error:
    count = error
assert (past_end, count) == (b"", 2), (past_end, count)
