"""F20: an overstated size breaks the mmap cache."""

from buffered import Store

file = Store().open("d/file", cache_type="mmap", size=6)
try:
    seen = file.read(1)
except Exception as error:
    seen = error

assert seen == b"a", repr(seen)
