"""Ports of the kit: bindings that make calls, openers that build streams, injectors of faults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeAlias

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.faults import FAULTS, FaultPlan, Firing, Turn
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.outcome import Outcome, raised
from fscontract.contract.program.program import Step


class Injector(ABC):
    """Makes the requests of one target fail by a plan."""

    #: The kinds of faults it can bring about.
    kinds: frozenset[str]

    @abstractmethod
    def attach(self, plan: FaultPlan) -> None:
        """Count requests from 1 on and let the plan happen, instead of one attached before.

        ProgramError if the plan has other kinds than `kinds`.
        """

    @abstractmethod
    def detach(self) -> None:
        """Let all go well from now on, and end every wait of a fault; may be called again."""

    @property
    @abstractmethod
    def requests(self) -> int:
        """The requests since `attach`, up to `detach`."""

    @property
    @abstractmethod
    def fired(self) -> int:
        """The faults that have taken effect since `attach`."""

    @contextmanager
    def attached(self, plan: FaultPlan) -> Iterator[None]:
        """Attach the plan for the time of a `with` block."""
        self.attach(plan)
        try:
            yield
        finally:
            self.detach()


class PlanInjector(Injector):
    """An injector for code that asks, at each of its requests, what is to happen to it.

    Its target calls `request`, and acts on the turn that it gets.
    """

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self._firing = Firing(FaultPlan())
        self._attached = False
        self._watchers: list[list[Firing]] = []

    def watch(self) -> list[Firing]:
        """Return a list to which every plan that is attached from now on is added, at work."""
        watcher: list[Firing] = []
        self._watchers.append(watcher)
        return watcher

    def attach(self, plan: FaultPlan) -> None:
        """As the port has it."""
        for i, fault in enumerate(plan.faults, 1):
            if fault.kind not in self.kinds:
                possible = ", ".join(k for k in FAULTS if k in self.kinds)
                raise ProgramError(
                    f"plan: fault {i}: {fault.kind} can't happen here; possible: {possible}"
                )
        self.detach()
        self._firing = Firing(plan)
        self._attached = True
        for watcher in self._watchers:
            watcher.append(self._firing)

    def detach(self) -> None:
        """As the port has it."""
        self._attached = False
        self._firing.released.set()

    def request(
        self, kind: str, path: str = "", offset: int | None = None, length: int | None = None
    ) -> Turn:
        """The turn of a request, which is one of the kinds in `faults.REQUESTS`.

        The path, the first byte and the number of bytes that it asks for are for messages.
        """
        firing = self._firing
        return firing.request(kind, path, offset, length) if self._attached else Turn()

    @property
    def requests(self) -> int:
        """As the port has it."""
        return self._firing.requests

    @property
    def fired(self) -> int:
        """As the port has it."""
        return self._firing.fired


class NoScene(Exception):
    """The target has no way to put this at a path: the program can't be run on it."""


class Opener(ABC):
    """`open_file` of one filesystem, step by step, below the prefix that its binding made.

    The methods that stand for calls of the API let its exceptions through; `outcome` says what
    they mean.
    """

    #: What it can put at a path (a subset of SCENES).
    scenes: frozenset[str]
    #: The statuses that it can give to a builder (a subset of STATUSES).
    statuses: frozenset[str] = frozenset()
    #: Whether the API has I/O statistics, so that those a target lacks are missing.
    statistics = False

    @abstractmethod
    def place(self, scene: str, content: bytes) -> str:
        """Make the scene and return its path; NoScene, TargetError. "late" is made by `appear`."""

    @abstractmethod
    def appear(self, path: str, content: bytes) -> None:
        """Make the file at a path of the scene "late", or replace the one that is there."""

    @abstractmethod
    def status(self, path: str, kind: str, length: int | None) -> Any:
        """A status of a kind for the file at `path`; `length` replaces the true one."""

    @abstractmethod
    def open_file(self, path: str) -> Any:
        """A new builder."""

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """A call with a status in the place of its kind; NoScene if there is none of the kind."""
        if call[0] != "with_file_status":
            return call
        method, kind, length = call
        if kind == "none":
            return method, None
        if kind not in self.statuses:
            raise NoScene(kind)
        return method, self.status(path, kind, length)

    def call(self, builder: Any, call: BuilderCall) -> Any:
        """The builder after a call that is ready."""
        method, *args = call
        return getattr(builder, method)(*args)

    def build(self, builder: Any) -> Any:
        """What `build` returns."""
        return builder.build()

    def get(self, future: Any) -> Any:
        """The stream that the future gives, as the binding has opened streams."""
        return future.result()

    def outcome(self, error: Exception) -> Outcome:
        """What an exception of a call means."""
        return raised(error)

    def counters(self, opened: Any) -> Mapping[str, int]:
        """The I/O statistics of the filesystem and, unless None, of an opened stream by Hadoop's
        names; empty if the API has none."""
        return {}


#: An opened stream in whatever form its binding likes.
Opened: TypeAlias = Any
Action: TypeAlias = Callable[[Opened], Outcome]


class TargetError(Exception):
    """The target could not be set up or used: no verdict on its streams (exit code 3)."""


class Binding(ABC):
    """One filesystem under one API. Every file lies below a random prefix that `prepare` makes
    and `dispose` removes; both may be called once. Files are never named by the suite."""

    #: Name of the API: "stream" (our ports), "python-file", "fsspec", ...
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
