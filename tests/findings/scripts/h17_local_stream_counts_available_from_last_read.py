"""H17: available() of LocalFileSystem counts from the last read, not from the position."""

from hadoop import buffer, local, path, write

f = local.open(path)
f.seek(512)
after_seek = f.available()
one = path.suffix("-one")
write(one, 1)
f = local.open(one)
f.read(buffer(2), 0, 2)
f.seek(0)
at_last_byte = f.available()
assert 0 < after_seek <= 9488 and at_last_byte == 1, (after_seek, at_last_byte)
