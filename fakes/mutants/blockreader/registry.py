"""What a mutant of a block reader is, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from fscontract.fakes.mutants.registry import load_modules, says
from fscontract.pipeline.blockreader import scaling
from fscontract.pipeline.blockreader.binding import ReaderBinding

_Broken = TypeVar("_Broken", bound=type[Any])


@dataclass(frozen=True)
class ReaderMutant:
    """A class that breaks `clause` where it takes the place `part` of a ReaderBinding."""

    clause: str
    part: str
    broken: type[Any]

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.broken.__name__

    @property
    def says(self) -> str:
        """What it does wrong, in one sentence."""
        return says(self.broken)

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"

    def binding(self) -> ReaderBinding:
        """A binding to readers of which this is a part."""
        found = ReaderBinding()
        setattr(found, self.part, self.broken)
        found.name = str(self)
        return found


_REGISTERED: list[ReaderMutant] = []


def reader_mutant(clause: str, part: str = "read_ahead") -> Callable[[_Broken], _Broken]:
    """Register a class as a mutant of `clause`; what it does wrong is its docstring."""

    def register(broken: _Broken) -> _Broken:
        _REGISTERED.append(ReaderMutant(clause, part, broken))
        return broken

    return register


@lru_cache(maxsize=1)
def reader_mutants() -> tuple[ReaderMutant, ...]:
    """Every mutant, in the order of the modules."""
    load_modules("blockreader")
    return tuple(_REGISTERED)


class Scaler:
    """The functions of `scaling` as methods, to be changed one by one."""

    ScalingPolicy = scaling.ScalingPolicy
    process_stats = staticmethod(scaling.process_stats)
    define_partitions = staticmethod(scaling.define_partitions)
