"""F20: an overstated size breaks the mmap cache."""

from buffered import Store

f = Store().open("d/file", cache_type="mmap", size=6)
try:
    f.read(1)  # expected b"a"
except IndexError as error:
    assert "mmap slice assignment is wrong size" in str(error)
else:
    raise SystemExit("fixed")
