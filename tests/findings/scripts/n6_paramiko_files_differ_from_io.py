"""N6: files of fsspec's SFTP client differ from files of io. Argument: server URL."""

import array

from sftp import paramiko_client


def outcome(call, argument):
    try:
        return call(argument)
    except Exception as error:
        return error


fs = paramiko_client()
fs.pipe_file("/it", b"0123456789")
file = fs.open("/it")
size = file.seek(0, 2)
file.seek(0)
count = outcome(file.readinto, array.array("I", [0]))
file.close()
after_close = outcome(file.read, 1)

right = size == 10 and count in (1, 2, 3, 4) and isinstance(after_close, ValueError)
assert right, [size, count, after_close]
