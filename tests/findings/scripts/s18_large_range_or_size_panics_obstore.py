"""S18: a range past the end panics in obstore, and a large size ends the process."""

import subprocess
import sys

import obstore
from obstore.store import MemoryStore

PROGRAM = """
import obstore
from obstore.store import MemoryStore
store = MemoryStore()
store.put("k", b"abcde")
obstore.open_reader(store, "k").read(2**62)
"""
store = MemoryStore()
store.put("k", b"abcde")
try:
    obstore.get_ranges(store, "k", starts=[0, 6], ends=[1, 8])
except Exception:
    raise SystemExit("fixed") from None
except BaseException as panic:  # expected an Exception
    print(type(panic).__name__)
else:
    raise SystemExit("fixed")
done = subprocess.run([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE)
assert done.returncode == -6  # SIGABRT; expected MemoryError or b"abcde"
