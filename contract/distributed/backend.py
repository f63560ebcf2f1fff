"""Backends, which run tasks in other processes: the port, and how one is found and started."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from fscontract.contract.binding import TargetError

#: Entry points of functions that make a Backend of what the user gave: a master, an address.
BACKENDS = "fscontract.backends"
#: A function of a module that is on both sides; text goes in and out.
Work: TypeAlias = Callable[[str], str]


class Backend(ABC):
    """Somewhere else, where tasks run in processes that have this very package."""

    #: What it is called in messages; never holds a secret.
    name: str

    @property
    @abstractmethod
    def parallelism(self) -> int:
        """How many tasks run side by side."""

    @abstractmethod
    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Have a task call `work`; TargetError from the future if it could not be run.

        `description` is shown to whoever looks at what is running; `request` may hold secrets.
        """

    def running(self) -> int | None:
        """How many tasks are running now, None if that can't be told."""
        return None

    @abstractmethod
    def cancel(self) -> None:
        """End all tasks, also those that are running."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what was started."""


def load_backend(kind: str, address: str) -> Backend:
    """Return the backend of a kind, such as spark, at an address; TargetError, UsageError."""
    (entry,) = entry_points(group=BACKENDS, name=kind)
    try:
        make: Any = entry.load()
    except ModuleNotFoundError as error:
        raise TargetError(
            f"{kind} needs the module {error.name!r}; pip install 'fscontract[{kind}]'"
        ) from error
    backend = make(address)
    if not isinstance(backend, Backend):
        raise TypeError(f"the entry point {kind!r} of {BACKENDS} gives no Backend")
    return backend


class LazyBackend:
    """A backend for the tasks of all targets, started when it is first needed."""

    def __init__(self, kind: str, address: str) -> None:
        self.kind = kind
        self._address = address
        self._backend: Backend | None = None

    def started(self) -> Backend:
        """Return the backend; TargetError, UsageError."""
        if self._backend is None:
            self._backend = load_backend(self.kind, self._address)
        return self._backend

    def close(self) -> None:
        """End what was started."""
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()
