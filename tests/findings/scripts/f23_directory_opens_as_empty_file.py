"""F23: a directory opens as an empty file."""

from buffered import Store

fs = Store()
assert fs.isdir("d")
try:
    seen = fs.open("d").read()
except Exception as error:
    seen = error

assert isinstance(seen, OSError), repr(seen)
