"""S8: read(-1) of obstore and OpenDAL fails."""

import obstore
import opendal
from obstore.store import MemoryStore

store = MemoryStore()
store.put("k", b"abcde")
operator = opendal.Operator("memory")
operator.write("k", b"abcde")
for f in (obstore.open_reader(store, "k"), operator.open("k", "rb")):
    try:
        f.read(-1)  # expected b"abcde"
    except OverflowError as error:
        assert "can't convert negative int to unsigned" in str(error)
    else:
        raise SystemExit("fixed")
