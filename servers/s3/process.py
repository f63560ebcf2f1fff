"""A server in a process and a directory of its own, which are gone in the end."""

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
#: Seconds after which a server that does not answer counts as deadlocked.
_DEADLOCK = 900.0
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PAUSE = 0.01


class Process:
    """Runs `command` in a new directory, where it has an empty `data` and these `files`.

    It is killed when this process ends, however that happens. `leftovers` are patterns of what it
    makes elsewhere and leaves when it is killed.
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
            start_new_session=True,  # an interrupt from the terminal is not for it
            text=True,
        )
        assert self._process.stdout is not None
        self._log = Path(self._process.stdout.readline().rstrip("\n"), "log")

    def logged(self, pattern: str) -> str:
        """The first group of the pattern, once the server has written such a line."""
        return self._wait(lambda: re.search(pattern, self._written()))[1]

    def _written(self) -> str:
        try:
            return self._log.read_text(errors="replace")
        except FileNotFoundError:  # the server has ended, and its directory is gone
            return ""

    def ready(self, server: Server) -> Server:
        """That server, once it takes an object."""
        bucket = f"/ready-{uuid4().hex}"
        self._wait(lambda: ask(server, "PUT", bucket).status == 200)
        self._wait(lambda: ask(server, "PUT", f"{bucket}/key", body=b"ready").status == 200)
        self._wait(lambda: ask(server, "DELETE", f"{bucket}/key").status == 204)
        self._wait(lambda: ask(server, "DELETE", bucket).status == 204)
        return server

    def _wait(self, attempt: Callable[[], T | None]) -> T:
        """What the attempt gives, once it gives something; OSError if the server ends before."""
        deadline = time.monotonic() + _DEADLOCK
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                assert self._process.stdout is not None
                raise OSError(f"the server does not start: {self._process.stdout.read()}")
            if found := attempt():
                return found
            time.sleep(_PAUSE)
        raise OSError(f"the server did not answer within {_DEADLOCK} seconds")

    def close(self) -> None:
        """End the server, and wait until all is gone; may be called again."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait(_DEADLOCK)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
