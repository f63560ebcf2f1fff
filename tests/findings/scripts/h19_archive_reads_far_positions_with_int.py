"""H19: pread() far past the end of a file in an archive casts its length to 32 bits."""

from hadoop import Path, buffer, outcome
from hadoop_archive import archive, har

f = har.open(Path(f"{archive}/it"))
seen = outcome(lambda: f.read(2**32 - 9, buffer(4), 1, 3))
assert seen == -1, repr(seen)
