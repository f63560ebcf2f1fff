"""N3: read_block fails over SFTP. Argument: server URL."""

from sftp import asyncssh_client, paramiko_client

seen = []
for fs in (asyncssh_client(), paramiko_client()):
    fs.pipe_file("/it", b"0123456789")
    try:
        seen.append(fs.read_block("/it", 0, 4))
    except Exception as error:
        seen.append(error)

assert seen == [b"0123", b"0123"], seen
