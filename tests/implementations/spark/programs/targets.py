"""Targets that tasks make for themselves: named as `.../targets.py:callable`."""

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
#: How many files are opened before one of them ends the process.
_MIDDLE = 10


def mutant(name: str, secret: str = "") -> Binding:
    """A mutant by its name, whatever the secret."""
    binding: Binding = mutant_named(name).binding()
    return binding


def dying(name: str, marker: str, whom: str) -> Binding:
    """A mutant by its name, which kills in the middle of its first part: this process, a worker of
    Spark's, or the executor above the daemon that is its parent. The marker tells of it."""
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
    """Files, one of which ends the process when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()

    def _open(self, path: str, options: Any) -> MemoryInputStream:
        if next(self._numbers) == _MIDDLE:
            os._exit(9)
        return super()._open(path, options)


def elsewhere(driver: int, how: str) -> MemoryFileSystem:
    """A filesystem of one process, and of no other: there it raises, or ends the process later."""
    if os.getpid() == driver:
        return MemoryFileSystem()
    if how == "dies":
        return _Mortal()
    raise OSError(f"only process {driver} can")


class _Waiting(MemoryInputStream):
    """A stream whose skip says so, and does not end."""

    gate = ""

    def skip(self, count: int) -> int:
        """Tell whoever listens; wait for ever."""
        with open(self.gate, "w") as gate:
            gate.write("here\n")
        while count > -2:
            threading.Event().wait(_BRIEF)
        return super().skip(count)


class Waiting(MemoryFileSystem):
    """Files whose skip does not end, once it has been told through the pipe `gate`."""

    def __init__(self, gate: str) -> None:
        super().__init__(stream_class=_Waiting)
        _Waiting.gate = gate
