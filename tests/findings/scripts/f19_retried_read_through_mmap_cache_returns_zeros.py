"""F19: a retried read through a memory-mapped cache returns zeros."""

from buffered import Store

fs = Store()
fs.failing = True
file = fs.open("d/file", cache_type="mmap")
try:
    file.read()
except OSError:
    pass
file.seek(0)
data = file.read()

assert data == b"abcde", data
