"""R1: a file that was added twice and deleted is listed again."""

from hudi_table import Change, listed, name, writer

assert listed() == [0, 1, 2]
writer.commit(Change({"city=a": {name(0): 700}}))
writer.commit(Change(deleted={"city=a": [name(0)]}))
assert listed() == [0, 1, 2]  # expected [1, 2]
writer.compact()
assert listed() == [1, 2]
