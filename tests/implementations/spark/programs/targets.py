"""Targets that tasks make for themselves: named as `.../targets.py:callable`."""

from __future__ import annotations

import os
import threading
from typing import Any

from fscontract.contract.binding import Binding
from fscontract.fakes.mutants.registry import binding, mutants
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

_BRIEF = 0.05


def mutant(name: str, secret: str = "") -> Binding:
    """A mutant by its name, whatever the secret."""
    return binding(next(m for m in mutants() if str(m) == name))


def elsewhere(driver: str, how: str) -> MemoryFileSystem:
    """A filesystem of one process, and of no other: there it raises, or ends the process."""
    if os.getpid() != int(driver):
        if how == "dies":
            os._exit(9)
        raise OSError(f"only process {driver} can")
    return MemoryFileSystem()


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
        super().__init__()
        _Waiting.gate = gate

    def _open(self, path: str, options: Any) -> MemoryInputStream:
        return _Waiting(super()._open(path, options)._data, path)
