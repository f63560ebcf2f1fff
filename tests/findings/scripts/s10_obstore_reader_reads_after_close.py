"""S10: a reader of obstore reads after close."""

import obstore
from obstore.store import MemoryStore

store = MemoryStore()
store.put("k", b"abcde")
f = obstore.open_reader(store, "k")
f.close()
assert bytes(f.read(5)) == b"abcde"  # expected ValueError
