"""Runs a server until its parent closes standard input or ends.

    python supervisor.py '{"command": [...], "files": {"name": "text"}, "leftovers": [...]}'

The server runs in a new directory with an empty directory `data`, those files, and its output as
`log`; the path is printed to standard output. At the end the server is killed, which is quick and
safe, because its data is deleted: the directory, and files that match the patterns `leftovers`.
"""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

_SHOWN = 2000


def main(job: dict[str, Any]) -> None:
    """Start the server, wait, and clean up; if it ended early, show the end of its log."""
    with tempfile.TemporaryDirectory(prefix="fscontract-s3-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        Path(directory, "data").mkdir()
        for file, text in job["files"].items():
            Path(directory, file).write_text(text)
        log = Path(directory, "log")
        with log.open("wb") as file:
            server = subprocess.Popen(
                job["command"],
                cwd=directory,
                env={**os.environ, **job["environment"], "TMPDIR": name},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        print(directory, flush=True)
        threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()
        if server.wait() != -signal.SIGKILL:
            print(log.read_text(errors="replace")[-_SHOWN:])
    for pattern in job["leftovers"]:
        for left in glob.glob(pattern):
            Path(left).unlink(missing_ok=True)


def _end_with_stdin(server: subprocess.Popen[bytes]) -> None:
    os.read(0, 1)  # not sys.stdin, whose lock a thread must not hold when the process ends
    server.kill()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
