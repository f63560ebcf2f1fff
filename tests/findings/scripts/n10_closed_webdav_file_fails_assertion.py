"""N10: a closed file over WebDAV fails an assertion. Argument: server URL."""

import sys

from webdav4.fsspec import WebdavFileSystem

fs = WebdavFileSystem(sys.argv[1])
fs.pipe_file("it", b"0123456789")
f = fs.open("it")
assert f.seek(11, 1) == 10  # expected 11
try:
    f.read(None)  # expected b""
except TypeError:
    pass
else:
    raise SystemExit("fixed")
f.close()
try:
    f.read(1)  # expected ValueError
except AssertionError:
    pass
else:
    raise SystemExit("fixed")
