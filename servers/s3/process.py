"""Server in a separate process and directory, both removed at the end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from servers.s3.signed import Server, ask

T = TypeVar("T")
#: Seconds after which a server that does not respond counts as deadlocked.
_DEADLOCK = 900.0
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PAUSE = 0.01


class Process:
    """Runs `command` in a new directory with an empty `data` and these `files`.

    It is killed when this process ends, however that happens. `leftovers` are patterns of files
    that it creates elsewhere and leaves behind when killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        leftovers: Sequence[str] = (),
    ) -> None:
        job = {
            "command": command,
            "files": files or {},
            "environment": environment or {},
            "leftovers": leftovers,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_SUPERVISOR), json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt from the terminal must not reach it
            text=True,
        )
        assert self._process.stdout is not None
        self._log = Path(self._process.stdout.readline().rstrip("\n"), "log")

    def logged(self, pattern: str) -> str:
        """Wait until the server logs a line that matches; return the pattern's first group."""
        return self._wait(lambda: re.search(pattern, self._written()))[1]

    def _written(self) -> str:
        try:
            return self._log.read_text(errors="replace")
        except FileNotFoundError:  # the server has ended, and its directory is removed
            return ""

    def ready(self, server: Server) -> Server:
        """Wait until the server accepts an object; return the server."""
        bucket = f"/ready-{uuid4().hex}"
        self._wait(lambda: ask(server, "PUT", bucket).status == 200)
        self._wait(lambda: ask(server, "PUT", f"{bucket}/key", body=b"ready").status == 200)
        self._wait(lambda: ask(server, "DELETE", f"{bucket}/key").status == 204)
        self._wait(lambda: ask(server, "DELETE", bucket).status == 204)
        return server

    def _wait(self, attempt: Callable[[], T | None]) -> T:
        """Wait until the attempt returns a result; raise OSError if the server ends before."""
        deadline = time.monotonic() + _DEADLOCK
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                assert self._process.stdout is not None
                raise OSError(f"the server did not start: {self._process.stdout.read()}")
            if found := attempt():
                return found
            time.sleep(_PAUSE)
        raise OSError(f"the server did not respond within {_DEADLOCK} seconds")

    def close(self) -> None:
        """Stop the server, and wait until its files are removed. May be called again."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait(_DEADLOCK)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
