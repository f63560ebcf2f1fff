"""H14: a file over HTTP has no position. Argument: URL of a directory with `it` of 5 bytes."""

import sys

from hadoop import JClass, Path, buffer, outcome
from hadoop_servers import filesystem, sockets

http = filesystem(sys.argv[1])
f = http.open(Path(f"{sys.argv[1]}it"))
position = outcome(f.getPos)
f.readFully(buffer(5))
nothing = outcome(lambda: f.read(buffer(0), 0, 0))
outside = [
    outcome(lambda: f.read(buffer(4), -2, 2)),
    outcome(lambda: f.read(buffer(4), 5, 0)),
]
before = sockets()
outcome(lambda: http.open(Path(f"{sys.argv[1]}nothing")))
kept = sockets() - before
error = JClass("java.lang.IndexOutOfBoundsException")
assert (
    [position, nothing] == [0, 0]
    and all(isinstance(each, error) for each in outside)
    and kept == set()
), (position, nothing, outside, kept)
