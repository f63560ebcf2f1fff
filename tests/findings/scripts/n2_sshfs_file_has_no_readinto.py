"""N2: a file of sshfs has no readinto. Argument: server URL."""

from sftp import asyncssh_client

fs = asyncssh_client()
fs.pipe_file("/it", b"0123456789")
with fs.open("/it") as file:
    try:
        count = file.readinto(bytearray(4))
    except Exception as error:
        count = error

assert count in (1, 2, 3, 4), repr(count)
