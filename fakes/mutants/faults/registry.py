"""Register filesystems that mishandle faults, and run the suite on them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple, TypeVar

from fscontract.contract.binding import Binding
from fscontract.contract.program.faults import FAULTS
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import FAULTS as FAULTS_DOCUMENT
from fscontract.contract.spec.clauses import Clause, clauses
from fscontract.contract.spec.profiles import Profile, load_profile
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.fakes.filesystem.client import Client, Connection, FakeInputStream
from fscontract.fakes.filesystem.filesystem import FakeBinding, FakeFileSystem
from fscontract.fakes.mutants.registry import BROKEN, load_modules, says
from fscontract.implementations.local_stream import DEFAULT_BUFFER, LocalInputStream
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.targets import LocalBinding

#: How often the fake's client tries again.
RETRIES = 3


class StoredFiles(FakeFileSystem):
    """Files in a fake store, opened as streams of the class `stream` through a `client`."""

    def __init__(
        self,
        stream: type[FakeInputStream] = FakeInputStream,
        client: type[Client] = Client,
        retries: int = RETRIES,
    ) -> None:
        super().__init__()
        self._stream = stream
        self._client = client(self.store, retries)

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        return self._stream(path, self._client)


class DiskFiles(FaultyLocalFileSystem):
    """Files on this machine whose requests fail by a plan, opened as streams of `stream`."""

    stream: ClassVar[type[LocalInputStream]] = LocalInputStream

    def __init__(self) -> None:
        super().__init__(tempfile.gettempdir())

    def _open(self, path: str, options: OpenOptions) -> LocalInputStream:
        opener = partial(self._open_descriptor, path, self._follow(path), "normal")
        return self.stream(path, opener, DEFAULT_BUFFER)


@dataclass(frozen=True)
class FaultMutant:
    """What breaks `clause` when one of the `kinds` of faults happens to it.

    `filesystem` makes a new one that does, or whose streams do; `says` is what it does wrong, in
    one sentence.
    """

    clause: str
    name: str
    kinds: frozenset[str]
    says: str
    filesystem: Callable[[], StoredFiles | DiskFiles]

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"


_REGISTERED: list[FaultMutant] = []
_Broken = TypeVar("_Broken", bound=type)


def fault_mutant(clause: str, *kinds: str) -> Callable[[_Broken], _Broken]:
    """Register a class as a mutant of `clause` that mishandles these kinds of faults.

    It is a class of filesystems, or of what the fake one is made of: streams, their connections,
    its client. What it does wrong is its docstring.
    """
    assert kinds
    assert FAULTS.keys() >= set(kinds)

    def register(broken: _Broken) -> _Broken:
        made = FaultMutant(
            clause, broken.__name__, frozenset(kinds), says(broken), filesystem_of(broken)
        )
        _REGISTERED.append(made)
        return broken

    return register


def filesystem_of(part: Any) -> Callable[[], StoredFiles | DiskFiles]:
    """What makes a new filesystem with this part instead of the right one."""
    if issubclass(part, Connection):
        return partial(_with_connection, part)
    if issubclass(part, FakeInputStream):
        return partial(StoredFiles, part)
    if issubclass(part, Client):
        return partial(StoredFiles, client=part)
    assert issubclass(part, StoredFiles | DiskFiles)
    whole: Callable[[], StoredFiles | DiskFiles] = part
    return whole


def _with_connection(part: type[Connection]) -> StoredFiles:
    stream = type("Stream", (FakeInputStream,), {"connection": part})
    return StoredFiles(stream)


@lru_cache(maxsize=1)
def fault_mutants() -> tuple[FaultMutant, ...]:
    """Every mutant, in the order of the modules."""
    load_modules("faults")
    return tuple(_REGISTERED)


def binding(filesystem: StoredFiles | DiskFiles, kinds: Iterable[str] | None = None) -> Binding:
    """A binding to the filesystem, to which faults of these kinds happen (default: all it can)."""
    made: Binding
    made = FakeBinding(filesystem) if isinstance(filesystem, StoredFiles) else _disk(filesystem)
    if kinds is not None and made.injector is not None:
        made.injector.kinds = made.injector.kinds & set(kinds)
    return made


def _disk(filesystem: DiskFiles) -> Binding:
    made = LocalBinding(filesystem)
    made.injector = filesystem.injector
    return made


def profile() -> Profile:
    """The profile "reference" with deadlines; a mutant does nothing else that it has not."""
    return replace(load_profile("reference"), name="mutant").with_features(("supports-deadlines",))


#: Seconds after which a program counts as hanging, and where that is what is tried.
TIMEOUT, SHORT_TIMEOUT = 10.0, 0.5


class Row(NamedTuple):
    """One mutant against all clauses of faults, with the faults that it mishandles.

    `others` are the clauses that were found broken beside its own.
    """

    mutant: FaultMutant
    named: bool
    seconds: float
    others: tuple[str, ...]


def fault_clauses() -> tuple[Clause, ...]:
    """The testable clauses of the document."""
    return tuple(c for c in with_checks(clauses().values()) if c.document == FAULTS_DOCUMENT)


def run(
    mutant: FaultMutant, judged: Iterable[Clause], kinds: Iterable[str], first: bool = False
) -> RunResult:
    """The run of the suite for some clauses, with some kinds of faults."""
    filesystem = mutant.filesystem()
    timeout = SHORT_TIMEOUT if mutant.clause == "fault.hang" else TIMEOUT
    settings = Settings(
        profile(), tuple(judged), faults="quick", timeout=timeout, stop_at_first=first
    )
    try:
        return check(binding(filesystem, kinds), settings)
    finally:
        filesystem.injector.detach()  # whoever still waits for an answer


def is_named(mutant: FaultMutant, kinds: Iterable[str]) -> bool:
    """Whether the suite, told to look for one clause, finds that the mutant breaks it."""
    found = run(mutant, [clauses()[mutant.clause]], kinds, first=True)
    return found.clauses[0].outcome in BROKEN


def kill_table(chosen: Iterable[FaultMutant] | None = None) -> Iterator[Row]:
    """One row for each mutant, all of them by default, as soon as it is known."""
    for mutant in fault_mutants() if chosen is None else chosen:
        start = time.perf_counter()
        found = run(mutant, fault_clauses(), mutant.kinds)
        seconds = time.perf_counter() - start
        broken = [c.clause.id for c in found.clauses if c.outcome in BROKEN]
        others = tuple(clause for clause in broken if clause != mutant.clause)
        yield Row(mutant, mutant.clause in broken, seconds, others)
