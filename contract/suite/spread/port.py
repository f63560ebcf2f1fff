"""The port to somewhere else: what runs the parts of a run, and is found by an entry point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from fscontract.contract.binding import TargetError

#: Entry points of functions that make a Spreading of what the user gave: a master, an address.
SPREADS = "fscontract.spreads"
#: A function of a module that is on both sides; text goes in and out.
Work: TypeAlias = Callable[[str], str]


class Spreading(ABC):
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


def spreading(kind: str, place: str) -> Spreading:
    """Spark, say, at a master; TargetError, or UsageError for a place that can't be meant."""
    (entry,) = entry_points(group=SPREADS, name=kind)
    try:
        make: Any = entry.load()
    except ModuleNotFoundError as error:
        raise TargetError(
            f"{kind} needs the module {error.name!r}; pip install 'fscontract[{kind}]'"
        ) from error
    found = make(place)
    if not isinstance(found, Spreading):
        raise TypeError(f"the entry point {kind!r} of {SPREADS} gives no Spreading")
    return found
