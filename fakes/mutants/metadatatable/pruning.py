"""Tables that leave out files which may have rows, or none at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fscontract.fakes.mutants.metadatatable.registry import table_mutant
from fscontract.pipeline.metadata.changes import Change
from fscontract.pipeline.metadata.payload import ColumnStatistics, Record
from fscontract.pipeline.metadata.prune import Filter
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.write import MetadataWriter

_Known = ColumnStatistics | None


@table_mutant("meta.prune-range")
class KeepsEverything(MetadataTable):
    """No file is left out."""

    def _may_match(self, statistics: _Known, condition: Filter) -> bool:
        return True


@table_mutant("meta.prune-unknown")
class DropsUnknown(MetadataTable):
    """A file without statistics is left out."""

    def _may_match(self, statistics: _Known, condition: Filter) -> bool:
        return statistics is not None and super()._may_match(statistics, condition)


@table_mutant("meta.prune-nulls")
class NullsAreValues(MetadataTable):
    """A file with values has no nulls."""

    def _may_match(self, statistics: _Known, condition: Filter) -> bool:
        if condition.operator == "is null" and statistics is not None:
            return statistics.all_null
        return super()._may_match(statistics, condition)


@table_mutant("meta.prune-nan")
class NanIsNothing(MetadataTable):
    """Nothing is beyond the bounds."""

    def _may_match(self, statistics: _Known, condition: Filter) -> bool:
        high: Any = statistics.maximum if statistics is not None else None
        if isinstance(high, float) and condition.operator == ">":
            return bool(high > condition.value)
        return super()._may_match(statistics, condition)


@table_mutant("meta.prune-text")
class TextIsWhole(MetadataTable):
    """The largest text is the largest there is."""

    def _may_match(self, statistics: _Known, condition: Filter) -> bool:
        high: Any = statistics.maximum if statistics is not None else None
        if isinstance(high, str) and condition.operator == "=":
            return bool(condition.value <= high)
        return super()._may_match(statistics, condition)


@table_mutant("meta.prune-types")
class SameType(MetadataTable):
    """A value of another type is in no file."""

    def _may_match(self, statistics: _Known, condition: Filter) -> bool:
        low = statistics.minimum if statistics is not None else None
        if low is not None and type(low) is not type(condition.value):
            return False
        return super()._may_match(statistics, condition)


@table_mutant("meta.prune-replaced")
class StaleStatistics(MetadataWriter):
    """Statistics of a file are not told to be gone."""

    def _statistics(self, change: Change, columns: Sequence[str]) -> list[Record]:
        found = super()._statistics(change, columns)
        return [r for r in found if isinstance(r, ColumnStatistics) and not r.is_deleted]


class _AnyPartition(dict[tuple[str, str], ColumnStatistics]):
    """Finds statistics by the name of the file."""

    def get(self, key: tuple[str, str], default: Any = None) -> Any:
        named = [each for (_, name), each in self.items() if name == key[1]]
        return named[-1] if named else default


@table_mutant("meta.prune-partitions")
class NamesAlone(MetadataTable):
    """Statistics are found by the name of the file."""

    def column_statistics(
        self, column: str, partition: str | None = None
    ) -> Mapping[tuple[str, str], ColumnStatistics]:
        return _AnyPartition(super().column_statistics(column, partition))


@table_mutant("meta.prune-time-travel")
class CurrentStatistics(MetadataTable):
    """Statistics are those of now."""

    def column_statistics(
        self, column: str, partition: str | None = None
    ) -> Mapping[tuple[str, str], ColumnStatistics]:
        with MetadataTable(self._fs, self.path) as now:
            return now.column_statistics(column, partition)
