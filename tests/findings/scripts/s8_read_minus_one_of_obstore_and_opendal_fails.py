"""S8: read(-1) of obstore and OpenDAL fails."""

import obstore
import opendal
from obstore.store import MemoryStore

store = MemoryStore()
store.put("k", b"abcde")
operator = opendal.Operator("memory")
operator.write("k", b"abcde")
seen = []
for f in (obstore.open_reader(store, "k"), operator.open("k", "rb")):
    try:
        seen.append(f.read(-1))
    except Exception as error:
        seen.append(error)
assert seen == [b"abcde", b"abcde"], seen
