"""H17: available() of LocalFileSystem counts from the last read, not from the position."""

from hadoop import buffer, local, path, raw, write

for filesystem, left in ((raw, 9488), (local, 10_000)):  # expected 9488
    f = filesystem.open(path)
    f.seek(512)
    assert f.available() == left
one = path.suffix("-one")
write(one, 1)
for filesystem, left in ((raw, 1), (local, 0)):  # expected 1
    f = filesystem.open(one)
    f.read(buffer(2), 0, 2)
    f.seek(0)
    assert f.available() == left
