"""N9: a seek on a closed file over WebDAV leaks a connection. Argument: server URL."""

import sys

from webdav4.fsspec import WebdavFileSystem

fs = WebdavFileSystem(sys.argv[1])
fs.pipe_file("it", b"0123456789")
file = fs.open("it")
file.close()
try:
    seen = file.seek(2)
except Exception as error:
    seen = error
file.close()
busy = sum(not each.is_idle() for each in fs.client.http._transport._pool.connections)

right = isinstance(seen, ValueError) and busy == 0
assert right, [seen, busy]
