"""H14: a file over HTTP has no position. Argument: URL of a directory with `it` of 5 bytes."""

import sys

from hadoop import Path, buffer, raises
from hadoop_servers import filesystem, sockets

http = filesystem(sys.argv[1])
f = http.open(Path(f"{sys.argv[1]}it"))
assert raises("java.lang.UnsupportedOperationException", f.getPos)  # expected 0
assert f.read(buffer(5)) == 5
assert f.read(buffer(0), 0, 0) == -1  # expected 0
assert f.read(buffer(4), -2, 2) == -1  # expected IndexOutOfBoundsException
assert f.read(buffer(4), 5, 0) == -1  # expected IndexOutOfBoundsException
before = sockets()
assert raises("java.io.FileNotFoundException", lambda: http.open(Path(f"{sys.argv[1]}nothing")))
assert sockets() - before  # expected none
