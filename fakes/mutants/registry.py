"""Streams and filesystems that break one clause each, and how the suite is pointed at them."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import ClassVar, TypeVar

from fscontract.contract.clauses import clauses
from fscontract.contract.profile import Profile, load_profile
from fscontract.implementations.bindings.stream import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.options import OpenOptions

#: Packages that hold one module for each theme of one document.
_DOCUMENTS = ("fsdatainputstream", "pythonio", "openfile")


class MutantFileSystem(MemoryFileSystem):
    """Files in memory, opened as streams of the class `stream`."""

    def __init__(self, stream: type[MemoryInputStream]) -> None:
        super().__init__()
        self._stream = stream

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        right = super()._open(path, options)
        stream = self._stream(right._data, path)
        if isinstance(stream, LiveStream):
            stream.look = lambda: self._now(path, options)
        return stream

    def _now(self, path: str, options: OpenOptions) -> bytes | None:
        try:
            return super()._open(path, options)._data
        except FileNotFoundError:
            return None


class LiveStream(MemoryInputStream):
    """A stream that can look at what its file holds now; itself it never does."""

    #: The file's present content, None once it is deleted.
    look: Callable[[], bytes | None]

    @property
    def is_changed(self) -> bool:
        """Whether the file is another than the one that was opened."""
        return self.look() != self._data


@dataclass(frozen=True)
class Mutant:
    """What breaks `clause`: `filesystem` makes a new one that does, or whose streams do.

    `features` are what it differs in from the profile "reference", the keys are those that its
    `open_file` has beside the standard ones, and `says` is what it does wrong, in one sentence.
    """

    clause: str
    name: str
    features: tuple[str, ...]
    says: str
    filesystem: Callable[[], MemoryFileSystem]
    own_keys: frozenset[str] = frozenset()
    unsupported_keys: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"


_REGISTERED: list[Mutant] = []
_Stream = TypeVar("_Stream", bound=type[MemoryInputStream])


def mutant(
    clause: str, filesystem: type[MutantFileSystem] = MutantFileSystem
) -> Callable[[_Stream], _Stream]:
    """Register a class of streams as a mutant of `clause`.

    What it does wrong is its docstring; its features are those of the variant it derives from.
    """

    def register(stream: _Stream) -> _Stream:
        make = partial(filesystem, stream)
        add(Mutant(clause, stream.__name__, features_of(stream), says(stream), make))
        return stream

    return register


def add(mutated: Mutant) -> None:
    """Put a mutant behind the others of its document."""
    _REGISTERED.append(mutated)


def says(broken: type) -> str:
    """What a class does wrong: its docstring, on one line."""
    return inspect.cleandoc(broken.__doc__ or "").replace("\n", " ")


class Variant(MemoryInputStream):
    """A correct stream with other features than those of the profile "reference"."""

    #: The features, with "!" before those it lacks.
    features: ClassVar[tuple[str, ...]] = ()


def features_of(stream: type[MemoryInputStream]) -> tuple[str, ...]:
    """What a class of streams differs in from the profile "reference"."""
    return stream.features if issubclass(stream, Variant) else ()


@lru_cache(maxsize=1)
def mutants() -> tuple[Mutant, ...]:
    """Every mutant, in the order of its document's modules."""
    for document in _DOCUMENTS:
        load_modules(document)
    return tuple(_REGISTERED)


def load_modules(document: str) -> None:
    """Import the modules of a document's package, in which its mutants register themselves."""
    package = import_module(f"fscontract.fakes.mutants.{document}")
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        import_module(module.name)


def binding(mutated: Mutant) -> StreamBinding:
    """A binding, to be used once, to a new filesystem that opens the mutant."""
    return StreamBinding(mutated.filesystem(), name=str(mutated))


def profile(mutated: Mutant) -> Profile:
    """The profile under which the mutant breaks its clause and should break no other.

    The Python file over a stream inherits the stream's faults, so it is left out unless the
    mutant is one of files.
    """
    of_files = clauses()[mutated.clause].document == "pythonio"
    found = profile_of(mutated.features, *(() if of_files else ("!python-file",)))
    return replace(found, own_keys=mutated.own_keys, unsupported_keys=mutated.unsupported_keys)


def profile_of(features: tuple[str, ...], *more: str) -> Profile:
    """The profile "reference" with features added or, after "!", removed."""
    return replace(load_profile("reference"), name="mutant").with_features((*features, *more))
