"""Filesystems that mishandle faults, and how the suite is pointed at them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, TypeVar

from fscontract.contract.binding import Binding
from fscontract.contract.faults import FAULTS
from fscontract.contract.profile import Profile, load_profile
from fscontract.fakes.faultylocal import FaultyLocalFileSystem
from fscontract.fakes.filesystem.client import Client, Connection
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.stream import FakeInputStream
from fscontract.fakes.filesystem.targets import FakeBinding
from fscontract.fakes.mutants.registry import load_modules, says
from fscontract.implementations.localstream import DEFAULT_BUFFER, LocalInputStream
from fscontract.implementations.options import OpenOptions
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
