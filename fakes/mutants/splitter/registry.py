"""Splitters that break one clause each, and how the checks are pointed at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from fscontract.contract.scenarios.check import Findings, find_violations
from fscontract.fakes.mutants.registry import load_modules, says
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import TimeBasedDirectoryScanner
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator, FileSplitterBase
from fscontract.pipeline.splitter.windows import FSWindowStore

#: Seconds after which a scenario counts as hanging.
TIMEOUT = 3.0
_Broken = TypeVar("_Broken", bound=type)


@dataclass(frozen=True)
class SplitterMutant:
    """What breaks `clause`; `says` is what it does wrong, in one sentence."""

    clause: str
    name: str
    says: str
    binding: LocalSplitterBinding

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"


_REGISTERED: list[SplitterMutant] = []


def splitter_mutant(clause: str) -> Callable[[_Broken], _Broken]:
    """Register a part of a splitter as a mutant of `clause`; its docstring says what is wrong."""

    def register(broken: _Broken) -> _Broken:
        made = SplitterMutant(clause, broken.__name__, says(broken), binding_with(broken))
        _REGISTERED.append(made)
        return broken

    return register


def binding_with(part: Any) -> LocalSplitterBinding:
    """A binding to splitters that have this part instead of the right one."""
    changed: dict[str, Any]
    if issubclass(part, FileSplitterInput):
        changed = {"input_class": part}
    elif issubclass(part, FileSplitterBase):
        changed = {"base_class": part}
    elif issubclass(part, FSWindowStore):
        changed = {"store_class": part}
    elif issubclass(part, TimeBasedDirectoryScanner):
        changed = {"input_class": type("Input", (FileSplitterInput,), {"scanner_class": part})}
    else:
        assert issubclass(part, BlockMetadataIterator)
        changed = {"input_class": type("Input", (FileSplitterInput,), {"iterator": part})}
    kind: type[LocalSplitterBinding] = type("Binding", (LocalSplitterBinding,), changed)
    return kind(part.__name__)


@lru_cache(maxsize=1)
def splitter_mutants() -> tuple[SplitterMutant, ...]:
    """Every mutant, in the order of the modules."""
    load_modules("splitter")
    return tuple(_REGISTERED)


def found_by(mutant: SplitterMutant) -> Findings:
    """What the checks of its clause find in a mutant."""
    return find_violations(mutant.binding, {mutant.clause}, TIMEOUT)
