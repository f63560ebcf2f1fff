"""N15: get of sshfs copies neither a list of files nor a directory. Argument: server URL."""

import tempfile

from sftp import asyncssh_client

fs = asyncssh_client()
fs.makedirs("/tree", exist_ok=True)
fs.pipe_file("/tree/it", b"0123456789")
local = tempfile.mkdtemp() + "/"
for source, error in ((["/tree/it"], "TypeError"), ("/tree", "SFTPFailure")):
    try:
        fs.get(source, local, recursive=True)
    except Exception as found:
        assert type(found).__name__ == error  # expected a copy of the file in `local`
    else:
        raise SystemExit("fixed")
