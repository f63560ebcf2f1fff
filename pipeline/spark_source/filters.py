"""Filters that Spark leaves to the source: by path and block before anything is opened, by offset
and value before rows are sent."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import datasource as api

from fscontract.pipeline.spark_source.partition import BlockRun

#: An offset, or an id, that is beyond all others.
_FAR = 1 << 63
#: Filters with a value by the name of what they do, which operators know.
_COMPARING = {
    api.EqualTo: "eq",
    api.EqualNullSafe: "eq",
    api.GreaterThan: "gt",
    api.GreaterThanOrEqual: "ge",
    api.LessThan: "lt",
    api.LessThanOrEqual: "le",
}
_TEXTUAL = {
    api.StringStartsWith: "starts",
    api.StringEndsWith: "ends",
    api.StringContains: "contains",
}


@dataclass(frozen=True)
class Condition:
    """What has to hold of a column: `operation` with `value`, or just that not if `negated`."""

    column: str
    operation: str
    value: Any
    negated: bool = False

    def holds(self, value: Any) -> bool:
        """Whether it holds of a value."""
        return _PYTHON[self.operation](value, self.value) != self.negated

    def mask(self, array: Any) -> Any:
        """Of which values of an Arrow array it holds."""
        import pyarrow.compute as pc

        found = _masks(pc)[self.operation](array, self.value)
        return pc.invert(found) if self.negated else found


def condition_of(pushed: Any, types: Mapping[str, type]) -> Condition | None:
    """The condition that a filter of Spark is; None if it is not for the source.

    `types` are those of the columns' values in Python.
    """
    negated = isinstance(pushed, api.Not)
    inner = pushed.child if negated else pushed
    if len(inner.attribute) != 1 or inner.attribute[0] not in types:
        return None
    column = inner.attribute[0]
    if isinstance(inner, api.IsNull | api.IsNotNull):
        return Condition(column, "null", None, isinstance(inner, api.IsNotNull) != negated)
    wanted = types[column]
    if isinstance(inner, api.In):
        fits = all(type(value) is wanted for value in inner.value)
        return Condition(column, "in", tuple(inner.value), negated) if fits else None
    if type(inner.value) is not wanted:
        return None
    name = _COMPARING.get(type(inner)) or (_TEXTUAL.get(type(inner)) if wanted is str else None)
    if name is None or (wanted is bytes and name != "eq"):
        return None
    return Condition(column, name, inner.value, negated)


def kept_runs(runs: Iterable[BlockRun], conditions: Sequence[Condition]) -> list[BlockRun]:
    """What is left of runs of blocks: files by their path, and blocks that may have rows."""
    if any(c.operation == "null" and not c.negated for c in conditions):
        return []
    paths = [c for c in conditions if c.column == "path"]
    ids, offsets = _bounds(conditions, "block_id"), _bounds(conditions, "offset")
    found = []
    for run in runs:
        if all(c.holds(run.file.file_path) for c in paths):
            kept = _narrowed(run, ids, offsets)
            if len(kept):
                found.append(kept)
    return found


def _narrowed(run: BlockRun, ids: tuple[int, int], offsets: tuple[int, int]) -> BlockRun:
    """The blocks with ids in bounds, and with rows that may start within bounds."""
    file = run.file
    first = max(run.first, ids[0] - file.first_block_id)
    stop = min(run.stop, ids[1] - file.first_block_id + 1)
    if not _compressed_into_one(run):
        grid = file.data_offset // file.block_size
        # A row starts in its block, or exactly where that ends.
        first = max(first, (offsets[0] - 1) // file.block_size - grid)
        stop = min(stop, max(offsets[1] // file.block_size - grid, 0) + 1)
        if offsets[1] < file.data_offset:
            stop = first
    return BlockRun(file, first, max(first, stop))


def _compressed_into_one(run: BlockRun) -> bool:
    """Whether offsets may be those of what a block is decompressed to: it is the whole file."""
    return run.file.number_of_blocks == 1


def _bounds(conditions: Iterable[Condition], column: str) -> tuple[int, int]:
    """Between which numbers, both included, the values of a column are."""
    low, high = -_FAR, _FAR
    for c in conditions:
        if c.column != column or c.negated or c.operation == "null":
            continue
        if c.operation == "in":
            low, high = max(low, min(c.value, default=_FAR)), min(high, max(c.value, default=-_FAR))
        if c.operation in ("eq", "ge", "gt"):
            low = max(low, c.value + (c.operation == "gt"))
        if c.operation in ("eq", "le", "lt"):
            high = min(high, c.value - (c.operation == "lt"))
    return low, high


def _contains(value: Any, values: Any) -> bool:
    return value in values


_PYTHON: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "in": _contains,
    "starts": str.startswith,
    "ends": str.endswith,
    "contains": operator.contains,
    "null": lambda value, _: value is None,
}


def _masks(pc: Any) -> dict[str, Callable[[Any, Any], Any]]:
    return {
        "eq": pc.equal,
        "gt": pc.greater,
        "ge": pc.greater_equal,
        "lt": pc.less,
        "le": pc.less_equal,
        "in": _is_in,
        "starts": pc.starts_with,
        "ends": pc.ends_with,
        "contains": pc.match_substring,
        "null": lambda array, _: pc.is_null(array),
    }


def _is_in(array: Any, values: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(array, value_set=pa.array(values, array.type))
