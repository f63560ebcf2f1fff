"""Row groups: to which block one belongs, where its columns lie, and whether it may have a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from fscontract.pipeline.metadata.prune import Filter, may_match
from fscontract.pipeline.metadata.ranges import column_range


def groups_in(metadata: Any, start: int, stop: int, length: int) -> Iterator[int]:
    """The row groups that begin in [start, stop) of a file; each begins in exactly one block."""
    for number in range(metadata.num_row_groups):
        begin = max(0, min(_begin(metadata.row_group(number)), length - 1))
        if start <= begin < stop:
            yield number


def may_have_rows(
    metadata: Any, number: int, names: Collection[str], filters: Sequence[Filter]
) -> bool:
    """False only if no row of a row group meets all filters; `names` are the file's columns."""
    wanted = [each for each in filters if each.column in names]
    if not wanted:
        return True
    leaves = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    paths = [leaf.path for leaf in leaves]
    for each in wanted:
        if paths.count(each.column) == 1:
            place = paths.index(each.column)
            if leaves[place].max_repetition_level == 0:
                chunk = metadata.row_group(number).column(place)
                if not may_match(column_range("", leaves[place], [chunk]), each):
                    return False
    return True


def ranges_of(metadata: Any, number: int, leaves: Collection[int]) -> list[tuple[int, int]]:
    """Where some columns of a row group lie: (offset, length) of each."""
    group = metadata.row_group(number)
    chunks = [group.column(place) for place in leaves]
    return [(_start(chunk), chunk.total_compressed_size) for chunk in chunks]


def leaves_of(schema: Any, names: Collection[str]) -> list[int]:
    """The places of the columns in a file that make up some columns of its Arrow schema."""
    found: list[int] = []
    place = 0
    for field in schema:
        count = _leaves(field.type)
        if field.name in names:
            found += range(place, place + count)
        place += count
    return found


def _leaves(kind: Any) -> int:
    kind = getattr(kind, "storage_type", kind)  # of a type that extends another
    if not pa.types.is_nested(kind):
        return 1
    return sum(_leaves(kind.field(place).type) for place in range(kind.num_fields))


def _begin(group: Any) -> int:
    """Where a row group begins, or what the file says of it."""
    return _start(group.column(0)) if group.num_columns else 0


def _start(chunk: Any) -> int:
    """Where a column begins in the file: with its dictionary, if it has one before the data."""
    data: int = chunk.data_page_offset
    first: int | None = chunk.dictionary_page_offset
    return first if first is not None and 0 < first < data else data
