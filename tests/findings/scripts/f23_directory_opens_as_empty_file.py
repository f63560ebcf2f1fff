"""F23: a directory opens as an empty file."""

from buffered import Store

fs = Store()
assert fs.isdir("d")
assert fs.open("d").read() == b""  # expected an OSError
assert fs.requests == 0
