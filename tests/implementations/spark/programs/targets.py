"""Targets that tasks create from `.../targets.py:callable`."""

from __future__ import annotations

import os
import signal
import threading
from itertools import count
from pathlib import Path
from typing import Any

from fscontract.contract.binding import Binding
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

_BRIEF = 0.05
#: Number of files opened before one of them kills the process.
_MIDDLE = 10


def mutant(name: str, secret: str = "") -> Binding:
    """Return a mutant by name; `secret` is ignored."""
    binding: Binding = mutant_named(name).binding()
    return binding


def dying(name: str, marker: str, whom: str) -> Binding:
    """Return a mutant by name that kills a process in the middle of its first shard.

    The process is this one, a Spark worker, or the executor above the worker's daemon. The marker
    file records it.
    """
    made = mutant(name)
    opened, numbers = made.open, count()

    def open_it(path: str) -> Any:
        if next(numbers) == _MIDDLE and not Path(marker).exists():
            Path(marker).touch()
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
            above = int(daemon.rpartition(")")[2].split()[1])
            os.kill(above if whom == "executor" else os.getpid(), signal.SIGKILL)
        return opened(path)

    made.open = open_it  # type: ignore[method-assign]
    return made


class _Mortal(MemoryFileSystem):
    """Files, one of which kills the process when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()

    def _open(self, path: str, options: Any) -> MemoryInputStream:
        if next(self._numbers) == _MIDDLE:
            os._exit(9)
        return super()._open(path, options)


def elsewhere(driver: int, how: str) -> MemoryFileSystem:
    """Return a filesystem in process `driver`; elsewhere raise, or kill the process later."""
    if os.getpid() == driver:
        return MemoryFileSystem()
    if how == "dies":
        return _Mortal()
    raise OSError(f"only process {driver} can")


class _Waiting(MemoryInputStream):
    """A stream whose skip reports to the pipe, and blocks."""

    gate = ""

    def skip(self, count: int) -> int:
        """Report to the pipe, and block forever."""
        with open(self.gate, "w") as gate:
            gate.write("here\n")
        while count > -2:
            threading.Event().wait(_BRIEF)
        return super().skip(count)


class Waiting(MemoryFileSystem):
    """Files whose skip reports to the pipe `gate`, and blocks."""

    def __init__(self, gate: str) -> None:
        super().__init__(stream_class=_Waiting)
        _Waiting.gate = gate
