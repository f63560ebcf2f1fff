"""S18: a range past the end panics in obstore, and a large size ends the process."""

import subprocess
import sys

import obstore
from obstore.store import MemoryStore

READ = """
import obstore
from obstore.store import MemoryStore
store = MemoryStore()
store.put("k", b"abcde")
try:
    assert obstore.open_reader(store, "k").read(2**62) == b"abcde"
except MemoryError:
    pass
"""
store = MemoryStore()
store.put("k", b"abcde")
try:
    seen = obstore.get_ranges(store, "k", starts=[0, 6], ends=[1, 8])
except BaseException as error:
    seen = error
code = subprocess.run([sys.executable, "-c", READ], stderr=subprocess.PIPE).returncode
assert isinstance(seen, (EOFError, OSError)) and code == 0, (seen, code)
