"""Ports of the kit: bindings that make calls, openers that build streams, injectors of faults."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import UnsupportedOperation
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import SparseContent
from fscontract.contract.program.fault_firing import Firing, Turn
from fscontract.contract.program.faults import FAULTS, FaultPlan
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.outcome import Kind, Outcome, raised
from fscontract.contract.program.program import Program, Step
from fscontract.contract.script.calls import JavaApi, ScriptApi, Source


class Injector(ABC):
    """Makes the requests of one target fail according to a plan."""

    #: The kinds of faults that it can cause.
    kinds: frozenset[str]

    @abstractmethod
    def attach(self, plan: FaultPlan) -> None:
        """Count requests from 1 on and apply the plan, replacing an attached one.

        Raise ProgramError if the plan has kinds of faults that are not in `kinds`.
        """

    @abstractmethod
    def detach(self) -> None:
        """Stop all faults and end their waits; may be called again."""

    @property
    @abstractmethod
    def requests(self) -> int:
        """The number of requests since `attach`, up to `detach`."""

    @property
    @abstractmethod
    def fired(self) -> int:
        """The number of faults that have taken effect since `attach`."""

    @contextmanager
    def attached(self, plan: FaultPlan) -> Iterator[None]:
        """Attach the plan for the duration of a `with` block."""
        self.attach(plan)
        try:
            yield
        finally:
            self.detach()


class PlanInjector(Injector):
    """An injector for code that requests its fault at each of its requests.

    Its target calls `request`, and applies the turn that it gets.
    """

    #: True if it supports parameters besides COMMON_PARAMETERS.
    every_parameter = False

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self._firing = Firing(FaultPlan())
        self._attached = False
        self._watchers: list[list[Firing]] = []

    def watch(self) -> list[Firing]:
        """Return a list to which every plan that is attached from now on is added as a Firing."""
        watcher: list[Firing] = []
        self._watchers.append(watcher)
        return watcher

    def attach(self, plan: FaultPlan) -> None:
        """Implement `Injector.attach`."""
        for i, fault in enumerate(plan.faults, 1):
            if not self.every_parameter and (names := fault.uncommon):
                raise ProgramError(
                    f"plan: fault {i}: unsupported parameter {names[0]} of {fault.kind}; "
                    "only the fake filesystem has it"
                )
            if fault.kind not in self.kinds:
                possible = ", ".join(k for k in FAULTS if k in self.kinds)
                raise ProgramError(
                    f"plan: fault {i}: unsupported kind {fault.kind}; possible: {possible}"
                )
        self.detach()
        self._firing = Firing(plan, self.now)
        self._attached = True
        for watcher in self._watchers:
            watcher.append(self._firing)

    def now(self) -> float:
        """Return the time in seconds, for the periods of faults."""
        return time.monotonic()

    def detach(self) -> None:
        """Implement `Injector.detach`."""
        self._attached = False
        self._firing.released.set()

    def request(
        self, operation: str, path: str = "", offset: int | None = None, length: int | None = None
    ) -> Turn:
        """Return the turn of a request of one of the OPERATIONS."""
        firing = self._firing
        return firing.request(operation, path, offset, length) if self._attached else Turn()

    @property
    def requests(self) -> int:
        """The number of requests since `attach`, up to `detach`."""
        return self._firing.requests

    @property
    def fired(self) -> int:
        """The number of faults that have taken effect since `attach`."""
        return self._firing.fired


#: Errors by which a store refuses to change a file: it is read-only, or written once.
REFUSALS = (PermissionError, FileExistsError, NotImplementedError, UnsupportedOperation)


class NoScene(Exception):
    """The target can't create this scene at a path, so the program can't run on it."""


class Opener(ABC):
    """`open_file` of one filesystem, step by step, below the prefix that its binding made.

    The methods that correspond to API calls let exceptions pass; `outcome` classifies them.
    """

    #: The scenes that it can create at a path (a subset of SCENES).
    scenes: frozenset[str]
    #: The statuses that it can give to a builder (a subset of STATUSES).
    statuses: frozenset[str] = frozenset()
    #: True if the API has I/O statistics, so that those a target lacks count as missing.
    statistics = False

    @abstractmethod
    def place(self, scene: str, content: bytes) -> str:
        """Make the scene and return its path; NoScene, TargetError.

        The file of the scene "late" is made by `appear`.
        """

    @abstractmethod
    def appear(self, path: str, content: bytes) -> None:
        """Make the file at a path of the scene "late", or replace an existing one."""

    @abstractmethod
    def status(self, path: str, kind: str, length: int | None) -> Any:
        """Return a status of a kind for the file at `path`; `length` replaces the true one."""

    @abstractmethod
    def open_file(self, path: str) -> Any:
        """Return a new builder."""

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """Return the call with a status object instead of its kind; NoScene if unavailable."""
        if call[0] != "with_file_status":
            return call
        method, kind, length = call
        if kind == "none":
            return method, None
        if kind not in self.statuses:
            raise NoScene(kind)
        return method, self.status(path, kind, length)

    def call(self, builder: Any, call: BuilderCall) -> Any:
        """Make a call that `ready` returned, and return the builder."""
        method, *args = call
        return getattr(builder, method)(*args)

    def build(self, builder: Any) -> Any:
        """Return the result of `build`."""
        return builder.build()

    def get(self, future: Any) -> Any:
        """Return the stream of the future, in the form of the binding's opened streams."""
        return future.result()

    def outcome(self, error: Exception) -> Outcome:
        """Return the outcome for an exception of a call."""
        return raised(error)

    def counters(self, opened: Any) -> Mapping[str, int]:
        """Return the I/O statistics of the filesystem, and of an opened stream unless None.

        The names are Hadoop's; the result is empty if the API has no statistics.
        """
        return {}


#: An opened stream, of a type that its binding chooses.
Opened: TypeAlias = Any
Action: TypeAlias = Callable[[Opened], Outcome]


class MethodCall(NamedTuple):
    """A call of one of the target's methods, those that called it, and how it ended."""

    name: str
    #: The innermost is the last; empty for a call that the binding made.
    callers: tuple[str, ...]
    kind: Kind


class TargetError(Exception):
    """The target can't be set up or used: there is no verdict on its streams (exit code 3)."""


class Binding(ABC):
    """One filesystem under one API.

    Every file is below a random prefix that `prepare` makes and `dispose` removes; each may be
    called once. The suite never chooses names of files.
    """

    #: Name of the API: "stream" (our ports), "python-file", "fsspec", ...
    api: ClassVar[str]
    #: The profile that fits the API when the user names none.
    default_profile: ClassVar[str] = "default"

    #: The name of the target in reports; never contains a secret.
    name: str
    #: The operations that the API can express.
    operations: frozenset[str]
    #: Why this target lacks operations that its API has.
    lacks: Mapping[str, str] = MappingProxyType({})
    #: Changes that the binding can make to a file under an open stream (a subset of CHANGES).
    changes: frozenset[str] = frozenset()
    #: A boundary of the implementation's buffer in bytes, where off-by-one bugs are likely.
    buffer: int = 4096
    #: Bytes that an open file reads at once; known after `prepare`, None if unknown.
    block: int | None = None
    #: True if an operation costs a round trip, so that fewer programs are run.
    remote: bool = False
    #: True if positioned reads are calls of the stream, not of the filesystem.
    pread_on_stream: bool = True
    #: Opens with options; None if the API has no builder.
    opener: Opener | None = None
    #: Makes requests fail according to a plan; None if the binding does not support that.
    injector: Injector | None = None
    #: True if files of several GiB can be written that take no room (`create_sparse`).
    holds_sparse: bool = False
    #: The only content of a read-only target (`--file`, `--content`).
    fixed_content: bytes | None = None

    @abstractmethod
    def prepare(self) -> None:
        """Make the prefix; TargetError if the target can't be used."""

    @abstractmethod
    def create(self, content: bytes) -> str:
        """Write a new file with this content and return its path."""

    def create_sparse(self, content: SparseContent) -> str:
        """Write a new sparse file and return its path; TargetError if that is not possible."""
        raise TargetError(f"{self.name}: can't hold a file of {len(content)} bytes")

    def place(self, at: OpenedPath, content: bytes) -> str:
        """Make what is at an unusual path, and return the path; NoScene if that is impossible.

        A file has this content. Nothing is removed before `dispose`.
        """
        raise NoScene(at.kind)

    def change(self, path: str, content: bytes | None) -> None:
        """Give the file at `path` new content in place, or delete it (None)."""
        raise TargetError(f"{self.name}: files can't be changed through {self.api}")

    @abstractmethod
    def open(self, path: str) -> Opened:
        """Open the file at `path`."""

    @abstractmethod
    def bind(self, step: Step) -> Action:
        """Return a function that makes the step, without anchors, on an opened stream.

        The function returns the outcome.
        """

    def spell(self, program: Program) -> str:
        """Return a program without anchors as calls of the API; "" if they need no other form."""
        return ""

    def script_api(self, source: Source) -> ScriptApi | None:
        """Return the API as scripts use it, to show failures without this package.

        None if there are none; raise NoScript if this target can't be made in a script.
        """
        return None

    def java_api(self, source: Source) -> JavaApi | None:
        """Return the API as Java classes use it; None if it is not one of Java. Raise NoScript."""
        return None

    @abstractmethod
    def dispose(self) -> None:
        """Remove everything the binding made."""

    @property
    def prefix(self) -> str | None:
        """The path of the prefix while it exists."""
        return None

    def leftovers(self) -> list[str]:
        """Return the paths of possible leftovers of other runs.

        These are directories at the place of `prepare`'s prefixes whose names look like theirs.
        """
        raise TargetError(
            f"{self.name}: directories of killed runs can't be listed through {self.api}"
        )

    def discard(self, prefix: str) -> None:
        """Remove a prefix that another run has left, if it exists; TargetError if that fails."""
        raise TargetError(f"{self.name}: {prefix} can't be removed through {self.api}")

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes of other packages that define what each operation calls.

        A failure may be one that the target inherits from such a class. `path` is an existing file.
        """
        return {}

    def method_calls(self, observe: Callable[[MethodCall], None]) -> AbstractContextManager[None]:
        """Call `observe` with each call of the target's methods inside of a `with` block.

        That is done at the end of the call. Targets whose methods can't be observed have none.
        """
        return nullcontext()

    def status_length(self, path: str) -> int | None:
        """Return the length in bytes that the filesystem's status reports for `path`, if any."""
        return None

    def status_etag(self, path: str) -> str | None:
        """Return the version of the file at `path` that the filesystem's status reports, if any."""
        return None
