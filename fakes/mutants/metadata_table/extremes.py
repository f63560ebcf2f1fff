"""Mutants that a metadata table shows with many partitions, files or actions only."""

from __future__ import annotations

from collections.abc import Iterable

from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.hudi.table import MetadataTable

_Listed = dict[str, list[FileStatus]]


@mutant("metadata.partitions", MetadataTable.list_partitions)
def one_page(self: MetadataTable) -> list[str]:
    """Only the first 128 partitions are listed."""
    return right(self).list_partitions()[:128]


@mutant("metadata.files", MetadataTable.list_many)
def thousand_files(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Only 1,000 files of a partition are listed."""
    return {name: files[:1000] for name, files in right(self).list_many(partitions).items()}


@mutant("metadata.files", MetadataTable.list_many)
def hundred_lookups(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """A lookup of more than 100 partitions has no files for the others."""
    wanted = list(partitions)
    listed = right(self).list_many(wanted[:100])
    return {**listed, **{name: [] for name in wanted[100:]}}


@mutant("metadata.files", MetadataTable.list_many)
def lookups_in_order(self: MetadataTable, partitions: Iterable[str]) -> _Listed:
    """Partitions that are asked for in another order than that of their names are missed."""
    found, last = {}, ""
    for name, files in right(self).list_many(list(partitions)).items():
        found[name] = files if name >= last else []
        last = max(name, last)
    return found
