"""What a mutant of a metadata table is, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from fscontract.contract.models.violation import Violation
from fscontract.contract.scenarios.check import find_violations
from fscontract.fakes.mutants.registry import load_modules, says
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import FileLock
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

_Broken = TypeVar("_Broken", bound=type[Any])


@dataclass(frozen=True)
class TableMutant:
    """A part of a table that breaks `clause`; `says` is what it does wrong, in one sentence."""

    clause: str
    name: str
    says: str
    binding: TableBinding

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"


_REGISTERED: list[TableMutant] = []


def table_mutant(clause: str) -> Callable[[_Broken], _Broken]:
    """Register a part of a table as a mutant of `clause`; its docstring says what is wrong."""

    def register(broken: _Broken) -> _Broken:
        made = TableMutant(clause, broken.__name__, says(broken), binding_with(broken))
        _REGISTERED.append(made)
        return broken

    return register


def binding_with(part: type[Any]) -> TableBinding:
    """A binding to tables that have this part instead of the right one."""
    changed: dict[str, Any]
    if issubclass(part, MetadataWriter):
        changed = {"writer_class": part}
    elif issubclass(part, MetadataTable):
        listing = type("Listing", (FileListing,), {"table_class": part})
        changed = {"table_class": part, "listing_class": listing}
    elif issubclass(part, FileListing):
        changed = {"listing_class": part}
    elif issubclass(part, FileLock):
        changed = {"lock_class": part}
    else:
        assert issubclass(part, FileGroupReader)
        table = type("Table", (MetadataTable,), {"group_class": part})
        changed = {
            "writer_class": type("Writer", (MetadataWriter,), {"group_class": part}),
            "table_class": table,
            "listing_class": type("Listing", (FileListing,), {"table_class": table}),
        }
    kind: type[TableBinding] = type("Binding", (TableBinding,), changed)
    return kind(part.__name__)


@lru_cache(maxsize=1)
def table_mutants() -> tuple[TableMutant, ...]:
    """Every mutant, in the order of the modules."""
    load_modules("metadata_table")
    return tuple(_REGISTERED)


def found_by(mutant: TableMutant) -> dict[str, Violation]:
    """What the check of its clause finds in a mutant."""
    return find_violations(mutant.binding, {mutant.clause}).violations
