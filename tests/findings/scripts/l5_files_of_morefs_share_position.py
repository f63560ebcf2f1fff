"""L5: all opened files of a path in a DictFS of morefs are one object."""

from morefs.dict import DictFS

fs = DictFS()
fs.pipe_file("/x", b"0123456789")
file = fs.open("/x")
file.read(2)
fs.cat_file("/x", 5, 7)
data = file.read(2)
assert data == b"23", data
