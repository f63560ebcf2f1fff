"""N15: get of sshfs copies neither a list of files nor a directory. Argument: server URL."""

import tempfile
from pathlib import Path

from sftp import asyncssh_client

fs = asyncssh_client()
fs.makedirs("/tree", exist_ok=True)
fs.pipe_file("/tree/it", b"0123456789")
seen = []
for source in (["/tree/it"], "/tree"):
    with tempfile.TemporaryDirectory() as local:
        try:
            fs.get(source, f"{local}/", recursive=True)
            seen.append([path.name for path in Path(local).rglob("*") if path.is_file()])
        except Exception as error:
            seen.append(error)

assert seen == [["it"], ["it"]], seen
