"""N2: a file of sshfs has no readinto. Argument: server URL."""

from sftp import asyncssh_client

fs = asyncssh_client()
fs.pipe_file("/it", b"0123456789")
assert not hasattr(fs.open("/it"), "readinto")
