"""H9: streams of archives do not check arguments."""

from hadoop import Path, buffer
from hadoop_archive import archive, har

f = har.open(Path(f"{archive}/it"))
read = buffer(4)
assert f.read(-1, read, 0, 4) == 4  # expected EOFException
assert bytes(each & 255 for each in read) == b".hel"  # `.` lies before the file
assert f.read(0, None, 0, 0) == -1  # expected 0 or NullPointerException
assert f.read(buffer(0), 1, 0) == 0  # expected IndexOutOfBoundsException
