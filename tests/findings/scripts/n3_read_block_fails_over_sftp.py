"""N3: read_block fails over SFTP. Argument: server URL."""

from sftp import asyncssh_client, paramiko_client

for fs in (asyncssh_client(), paramiko_client()):
    fs.pipe_file("/it", b"0123456789")
    try:
        fs.read_block("/it", 0, 4)  # expected b"0123"
    except AttributeError as error:
        assert "has no attribute 'size'" in str(error)
    else:
        raise SystemExit("fixed")
