"""Backends, which run tasks in other processes: the port, the lookup and the start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from importlib.metadata import entry_points
from typing import Any, ClassVar, TypeAlias

from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.targets import without_module

#: Entry points of functions that make a Backend from the user's value: a master, an address.
BACKENDS = "fscontract.backends"
#: The kind of backend that runs tasks in processes of this machine.
PROCESSES = "processes"
#: A module function that exists on both sides; input and output are text.
Work: TypeAlias = Callable[[str], str]


class Backend(ABC):
    """A place to run tasks in processes with this version of the package."""

    #: The name in messages; never contains a secret.
    name: str
    #: Shards for each parallel task: with several, a slow one delays little.
    shards_per_task: ClassVar[int] = 4

    @property
    @abstractmethod
    def parallelism(self) -> int:
        """The number of tasks that run in parallel."""

    @abstractmethod
    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Submit a task that calls `work`; the future raises TargetError if the task can't be run.

        `description` is shown in the backend's monitoring; `request` may contain secrets.
        """

    def running(self) -> int | None:
        """Return the number of running tasks, None if unknown."""
        return None

    @abstractmethod
    def cancel(self) -> None:
        """End all tasks, including running ones."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the backend."""


def load_backend(kind: str, address: str) -> Backend:
    """Return the backend of a kind, such as spark, at an address. Raise TargetError, UsageError."""
    (entry,) = entry_points(group=BACKENDS, name=kind)
    try:
        make: Any = entry.load()
    except ModuleNotFoundError as error:
        raise without_module(kind, error, kind) from error
    backend = make(address)
    if not isinstance(backend, Backend):
        raise TypeError(f"the entry point {kind!r} of {BACKENDS} returns no Backend")
    return backend


class LazyBackend:
    """A backend for the tasks of all targets, started on first use."""

    def __init__(self, kind: str, address: str) -> None:
        self.kind = kind
        #: Whether the tasks may run on other machines, where files have to be visible, too.
        self.is_remote = kind != PROCESSES
        self._address = address
        self._backend: Backend | None = None

    @property
    def option(self) -> str:
        """The option of the command line that asks for it."""
        return f"--{self.kind}" if self.is_remote else "--jobs"

    def started(self) -> Backend:
        """Return the backend. Raise TargetError, UsageError."""
        if self._backend is None:
            self._backend = load_backend(self.kind, self._address)
        return self._backend

    def close(self) -> None:
        """Close the backend if it was started."""
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()


def backend_of(run: RunOptions) -> LazyBackend | None:
    """Return the backend that runs the programs of a run, None for this process; starts nothing."""
    if run.spark:
        return LazyBackend("spark", run.spark)
    return LazyBackend(PROCESSES, str(run.jobs)) if run.jobs > 1 else None
