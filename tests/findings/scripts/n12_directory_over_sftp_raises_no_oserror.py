"""N12: sshfs raises an error of asyncssh for a directory. Argument: server URL."""

from sftp import asyncssh_client

fs = asyncssh_client()
fs.makedirs("/directory", exist_ok=True)
try:
    seen = fs.open("/directory")
except Exception as error:
    seen = error

assert isinstance(seen, OSError), repr(seen)
