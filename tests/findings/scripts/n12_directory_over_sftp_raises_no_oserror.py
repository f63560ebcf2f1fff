"""N12: sshfs raises an error of asyncssh for a directory. Argument: server URL."""

from sftp import asyncssh_client

fs = asyncssh_client()
fs.makedirs("/directory", exist_ok=True)
try:
    fs.open("/directory")
except OSError:
    raise SystemExit("fixed") from None
except Exception as error:
    assert type(error).__name__ == "SFTPFailure"  # expected IsADirectoryError
else:
    raise SystemExit("fixed")
