"""H10: archives do not declare vectored reads, and open paths of other filesystems."""

from hadoop import Path
from hadoop_archive import archive, har

assert not har.open(Path(f"{archive}/it")).hasCapability("in:readvectored")
f = har.openFile(Path(f"gopher://host{archive}/it")).build().get()
assert f.read() == ord("h")  # expected an IOException
