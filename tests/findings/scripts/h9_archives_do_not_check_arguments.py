"""H9: streams of archives do not check arguments."""

from hadoop import IOException, JClass, Path, buffer, outcome
from hadoop_archive import archive, har

RuntimeException = JClass("java.lang.RuntimeException")
f = har.open(Path(f"{archive}/it"))
before_start = outcome(lambda: f.read(-1, buffer(4), 0, 4))
long = outcome(lambda: f.read(5, buffer(4), 0, 5))
outside = outcome(lambda: f.read(buffer(0), 1, 0))
assert (
    isinstance(before_start, (IOException, RuntimeException))
    and isinstance(long, RuntimeException)
    and isinstance(outside, JClass("java.lang.IndexOutOfBoundsException"))
), (before_start, long, outside)
