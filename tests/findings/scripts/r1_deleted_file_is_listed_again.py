"""R1: a file that was added twice and deleted is listed again."""

from hudi_table import Change, listed, name, writer

writer.commit(Change({"city=a": {name(0): 700}}))
writer.commit(Change(deleted={"city=a": [name(0)]}))
files = listed()
assert files == [1, 2], files
