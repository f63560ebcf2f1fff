"""The port between programs and an API: a binding makes calls and reports neutral outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from fscontract.contract.injector import Injector
from fscontract.contract.opener import Opener
from fscontract.contract.outcome import Outcome
from fscontract.contract.program import Step

#: An opened stream in whatever form its binding likes.
Opened: TypeAlias = Any
Action: TypeAlias = Callable[[Opened], Outcome]


class TargetError(Exception):
    """The target could not be set up or used: no verdict on its streams (exit code 3)."""


class Binding(ABC):
    """One filesystem under one API. Every file lies below a random prefix that `prepare` makes
    and `dispose` removes; both may be called once. Files are never named by the suite."""

    #: Name of the API: "stream" (our ports), "pyfile", "fsspec", ...
    api: ClassVar[str]
    #: The profile that fits the API when the user names none.
    default_profile: ClassVar[str] = "default"

    #: What the target is called in reports; never holds a secret.
    name: str
    #: The operations the API has a word for.
    operations: frozenset[str]
    #: Ways the binding can change a file under an open stream (a subset of CHANGES).
    changes: frozenset[str] = frozenset()
    #: A boundary of the implementation's buffer in bytes: where off-by-one faults live.
    buffer: int = 4096
    #: How many bytes an open file reads at once; known once prepared, None if it does not tell.
    block: int | None = None
    #: Whether an operation costs a round trip, so that fewer programs are run.
    remote: bool = False
    #: Whether positioned reads are calls of the stream, not of the filesystem beside it.
    pread_on_stream: bool = True
    #: Opens with options; None if the API has no builder.
    opener: Opener | None = None
    #: Makes requests fail by a plan; None if that can't be done.
    injector: Injector | None = None
    #: The only content there is, for a target that can't be written (`--file`, `--content`).
    fixed_content: bytes | None = None

    @abstractmethod
    def prepare(self) -> None:
        """Make the prefix; TargetError if the target can't be used."""

    @abstractmethod
    def create(self, content: bytes) -> str:
        """Write a new file with this content and return its path."""

    def change(self, path: str, content: bytes | None) -> None:
        """Give the file at `path` new content in place, or delete it (None)."""
        raise TargetError(f"{self.name}: files can't be changed through {self.api}")

    @abstractmethod
    def open(self, path: str) -> Opened:
        """Open the file at `path`."""

    @abstractmethod
    def bind(self, step: Step) -> Action:
        """A step without anchors as a function from an opened stream to what happened."""

    @abstractmethod
    def dispose(self) -> None:
        """Remove everything the binding made."""

    @property
    def prefix(self) -> str | None:
        """The path of the prefix while there is one."""
        return None

    def leftovers(self) -> list[str]:
        """The paths of directories where `prepare` makes prefixes whose names are like theirs."""
        raise TargetError(f"{self.name}: what runs have left can't be listed through {self.api}")

    def discard(self, prefix: str) -> None:
        """Remove a prefix that another run has left, if it is there; TargetError if it stays."""
        raise TargetError(f"{self.name}: {prefix} can't be removed through {self.api}")

    def status_length(self, path: str) -> int | None:
        """The length in bytes that the filesystem's status reports for `path`, if it has one."""
        return None

    def status_etag(self, path: str) -> str | None:
        """The version of the file at `path` that the filesystem's status reports, if it has one."""
        return None
