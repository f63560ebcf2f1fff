"""N9: a seek on a closed file over WebDAV leaks a connection. Argument: server URL."""

import sys

from webdav4.fsspec import WebdavFileSystem

fs = WebdavFileSystem(sys.argv[1])
fs.pipe_file("it", b"0123456789")
pool = fs.client.http._transport._pool
files = [fs.open("it") for _ in range(3)]
for f in files:
    f.close()
    assert f.seek(2) == 2  # expected ValueError
    f.close()
assert sum(not each.is_idle() for each in pool.connections) == 3  # expected 0
