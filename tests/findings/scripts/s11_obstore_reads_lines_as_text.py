"""S11: obstore reads lines as text, and without a limit."""

import obstore
from obstore.store import MemoryStore

store = MemoryStore()
store.put("k", b"\xff\n")
seen = []
for call in (lambda f: f.readlines(), lambda f: f.readline(1)):
    try:
        seen.append(call(obstore.open_reader(store, "k")))
    except Exception as error:
        seen.append(error)
assert seen == [[b"\xff\n"], b"\xff"], seen
