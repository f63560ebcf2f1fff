"""S7: a negative seek of obstore and OpenDAL moves to almost 2**64."""

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
        seen.append(f.seek(-1))
    except Exception as error:
        seen.append(error)
assert all(isinstance(each, (ValueError, OSError)) for each in seen), seen
