"""N4: a seek over SFTP accepts a negative position. Argument: server URL."""

from sftp import asyncssh_client, paramiko_client

for fs in (asyncssh_client(), paramiko_client()):
    fs.pipe_file("/it", b"0123456789")
    f = fs.open("/it")
    f.seek(-1)  # expected OSError or ValueError
    assert f.tell() == -1
