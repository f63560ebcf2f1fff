"""N4: a seek over SFTP accepts a negative position. Argument: server URL."""

from sftp import asyncssh_client, paramiko_client

seen = []
for fs in (asyncssh_client(), paramiko_client()):
    fs.pipe_file("/it", b"0123456789")
    with fs.open("/it") as file:
        try:
            file.seek(-1)
            seen.append(file.tell())
        except Exception as error:
            seen.append(error)

assert all(isinstance(each, (OSError, ValueError)) for each in seen), seen
