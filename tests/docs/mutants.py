"""The mutants of all documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from fscontract.fakes.mutants.blockreader.registry import reader_mutants
from fscontract.fakes.mutants.faults.registry import fault_mutants
from fscontract.fakes.mutants.hadoop import EXECUTOR_MUTANTS
from fscontract.fakes.mutants.metadata_table.registry import table_mutants
from fscontract.fakes.mutants.registry import mutants
from fscontract.fakes.mutants.splitter.registry import splitter_mutants


class _Mutant(Protocol):
    @property
    def clause(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def says(self) -> str: ...


def all_mutants() -> Iterator[tuple[str, str, str]]:
    """The clause that each breaks, its name, and what it does wrong."""
    made: list[_Mutant] = [*mutants(), *fault_mutants(), *EXECUTOR_MUTANTS]
    made += [*splitter_mutants(), *reader_mutants(), *table_mutants()]
    for mutant in made:
        yield mutant.clause, mutant.name, mutant.says
