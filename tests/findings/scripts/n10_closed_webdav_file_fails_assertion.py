"""N10: a closed file over WebDAV fails an assertion. Argument: server URL."""

import sys

from webdav4.fsspec import WebdavFileSystem


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return error


fs = WebdavFileSystem(sys.argv[1])
fs.pipe_file("it", b"0123456789")
file = fs.open("it")
position = outcome(file.seek, 11, 1)
file.seek(0)
rest = outcome(file.read, None)
file.close()
after_close = outcome(file.read, 1)

right = position == 11 and rest == b"0123456789" and isinstance(after_close, ValueError)
assert right, [position, rest, after_close]
