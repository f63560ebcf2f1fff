"""N5: sshfs raises errors of asyncssh that are not OSErrors. Argument: server URL."""

from asyncssh import SFTPError
from sftp import asyncssh_client

fs = asyncssh_client()
fs.pipe_file("/it", b"0123456789")
fs.makedirs("/directory", exist_ok=True)
f = fs.open("/it")
for call in (lambda: fs.open("/directory"), lambda: f.write(b"x")):
    try:
        call()
    except SFTPError as error:
        assert not isinstance(error, OSError)  # expected OSError
    else:
        raise SystemExit("fixed")
f.close()
assert f.readline(0) == b""  # expected ValueError
