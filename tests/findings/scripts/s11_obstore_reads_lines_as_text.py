"""S11: obstore reads lines as text, and without a limit."""

import obstore
from obstore.store import MemoryStore

store = MemoryStore()
store.put("k", b"\xff\n")
try:
    obstore.open_reader(store, "k").readlines()  # expected [b"\xff\n"]
except OSError as error:
    assert "stream did not contain valid UTF-8" in str(error)
else:
    raise SystemExit("fixed")
try:
    obstore.open_reader(store, "k").readline(1)  # expected b"\xff"
except TypeError as error:
    assert "takes no arguments" in str(error)
else:
    raise SystemExit("fixed")
