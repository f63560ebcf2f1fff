"""F58: readlines of fsspec's buffered files returns an empty line at the end."""

from buffered import Store

file = Store().open("d/file")
file.seek(5)
lines = file.readlines()
assert lines == [], lines
