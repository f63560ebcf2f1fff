"""Tables that leave out files which may have rows, or none at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from fscontract.contract.ports import FileStatus
from fscontract.fakes.mutants.metadatatable.registry import table_mutant
from fscontract.pipeline.metadata.changes import Change
from fscontract.pipeline.metadata.columnar import ColumnChunk
from fscontract.pipeline.metadata.group import FileGroupReader
from fscontract.pipeline.metadata.payload import ColumnStatistics, Record
from fscontract.pipeline.metadata.prune import Filter
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.write import MetadataWriter


class _RowByRow(MetadataTable):
    """Looks at each file alone."""

    def _ruled_out(self, chunk: ColumnChunk, condition: Filter) -> list[bool]:
        right = super()._ruled_out(chunk, condition)
        return [
            not self._may_match(chunk, row, condition, not out) for row, out in enumerate(right)
        ]

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        raise NotImplementedError


@table_mutant("meta.prune-range")
class KeepsEverything(_RowByRow):
    """No file is left out."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        return True


@table_mutant("meta.prune-unknown")
class DropsUnknown(MetadataTable):
    """A file without statistics is left out."""

    def prune(
        self, filters: Iterable[Filter], partitions: Iterable[str] | None = None
    ) -> list[FileStatus]:
        conditions = list(filters)
        known = {name for each in conditions for c in self._chunks(each.column) for name in c.files}
        kept = super().prune(conditions, partitions)
        return [each for each in kept if each.path.rpartition("/")[2] in known]


@table_mutant("meta.prune-nulls")
class NullsAreValues(_RowByRow):
    """A file with values has no nulls."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        if condition.operator == "is null":
            return chunk.value_counts[row] == chunk.null_counts[row]
        return right


@table_mutant("meta.prune-nan")
class NanIsNothing(_RowByRow):
    """Nothing is beyond the bounds."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        high: Any = chunk.highs[row]
        if isinstance(high, float) and condition.operator == ">":
            return bool(high > condition.value)
        return right


@table_mutant("meta.prune-text")
class TextIsWhole(_RowByRow):
    """The largest text is the largest there is."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        high: Any = chunk.highs[row]
        if isinstance(high, str) and condition.operator == "=":
            return bool(condition.value <= high)
        return right


@table_mutant("meta.prune-types")
class SameType(_RowByRow):
    """A value of another type is in no file."""

    def _may_match(self, chunk: ColumnChunk, row: int, condition: Filter, right: bool) -> bool:
        low = chunk.lows[row]
        return right and (low is None or type(low) is type(condition.value))


@table_mutant("meta.prune-replaced")
class StaleStatistics(MetadataWriter):
    """Statistics of a file are not told to be gone."""

    def _statistics(self, change: Change, columns: Sequence[str]) -> list[Record]:
        found = super()._statistics(change, columns)
        return [r for r in found if isinstance(r, ColumnStatistics) and not r.is_deleted]


class _Everywhere(dict[str, Collection[str]]):
    """The same files in any partition."""

    def __missing__(self, partition: str) -> Collection[str]:
        return set().union(*self.values())

    def get(self, partition: str, default: Any = None) -> Any:
        return self[""]


@table_mutant("meta.prune-partitions")
class NamesAlone(MetadataTable):
    """Statistics are found by the name of the file."""

    def _without_match(self, condition: Filter) -> Mapping[str, Collection[str]]:
        return _Everywhere(super()._without_match(condition))


@table_mutant("meta.prune-time-travel")
class CurrentStatistics(MetadataTable):
    """Statistics are those of now."""

    def _chunks(self, column: str) -> Sequence[ColumnChunk]:
        with MetadataTable(self._fs, self.path) as now:
            return now._chunks(column)


@table_mutant("meta.prune-replaced")
class OldColumns(FileGroupReader):
    """What a log says of a file's statistics does not reach those that are by column."""

    def chunks(self, column: str) -> Iterator[ColumnChunk]:
        yield from islice(super().chunks(column), 1)
