"""S10: a reader of obstore reads after close."""

import obstore
from obstore.store import MemoryStore

store = MemoryStore()
store.put("k", b"abcde")
f = obstore.open_reader(store, "k")
f.close()
try:
    seen = f.read(5)
except Exception as error:
    seen = error
assert isinstance(seen, ValueError), repr(seen)
