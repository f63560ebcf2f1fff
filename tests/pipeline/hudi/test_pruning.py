"""Tests of pruning: a file is skipped only if no row can match."""

from __future__ import annotations

import math
import struct
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.pruning import Filter, Operator, may_match
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import Change
from tests.pipeline.hudi.support import COMPARISONS, PATH, dataset

NAN = float("nan")


def stats(
    wrapper: str | None, low: Any, high: Any, values: int | None = 5, nulls: int | None = 0
) -> Any:
    """Return statistics of a column."""
    return ColumnStatistics("k", "f", "c", wrapper, low, high, values, nulls)


@pytest.mark.parametrize(
    ("statistics", "operation", "value", "kept"),
    [
        (stats("LongWrapper", 3, 7), "=", 3, True),
        (stats("LongWrapper", 3, 7), "=", 8, False),
        (stats("LongWrapper", 3, 7), "<", 3, False),
        (stats("LongWrapper", 3, 7), "<=", 3, True),
        (stats("LongWrapper", 3, 7), ">", 7, False),
        (stats("LongWrapper", 3, 7), ">=", 7, True),
        (stats("LongWrapper", 3, 7), "in", [1, 2, 9], False),
        (stats("LongWrapper", 3, 7), "in", [1, 5], True),
        (stats("LongWrapper", 3, 3), "!=", 3, False),
        (stats("LongWrapper", 3, 7), "=", 8.0, False),
        (stats("LongWrapper", 3, 7), "=", "8", True),
        (stats("LongWrapper", 3, 7), "=", True, True),
        (stats("LongWrapper", 3, 7), "=", None, True),
        (stats("LongWrapper", 2**53 + 1, 2**53 + 1), "=", float(2**53), True),
        (stats("LongWrapper", 3, 7), "is null", None, False),
        (stats("LongWrapper", 3, 7, nulls=1), "is null", None, True),
        (stats("LongWrapper", 3, 7), "is not null", None, True),
        (stats(None, None, None, 5, 5), "is null", None, True),
        (stats(None, None, None, 5, 5), "is not null", None, False),
        (stats(None, None, None, 5, 5), "=", 1, False),
        (stats(None, None, None, 5, 0), "=", 1, True),
        (stats(None, None, None, None, None), "is null", None, True),
        (None, "=", 1, True),
        (stats("DoubleWrapper", 1.0, 2.0), "<", 1.0, False),
        (stats("DoubleWrapper", 1.0, 2.0), ">", 5.0, True),
        (stats("DoubleWrapper", 1.0, 2.0), "=", 5, False),
        (stats("DoubleWrapper", 1.0, 2.0), "=", NAN, True),
        (stats("DoubleWrapper", 1.0, 1.0), "!=", 1.0, True),
        (stats("FloatWrapper", *struct.unpack("ff", struct.pack("ff", 0.1, 0.1))), "=", 0.1, True),
        (stats("FloatWrapper", 1.0, 2.0), "=", 1e300, False),
        (stats("StringWrapper", "ab", "cd"), "=", "aa", False),
        (stats("StringWrapper", "ab", "cd"), "=", "cda", True),
        (stats("StringWrapper", "ab", "cd"), ">", "ce", False),
        (stats("StringWrapper", "ab", "ab"), "!=", "ab", True),
        (stats("BytesWrapper", b"a", b"b"), "=", b"c", False),
        (stats("BooleanWrapper", False, False), "=", True, False),
        (stats("DateWrapper", 10, 20), "=", date(1970, 1, 31), False),
        (stats("DateWrapper", 10, 20), "=", datetime(1970, 1, 31), True),
        (stats("DecimalWrapper", Decimal(1), Decimal(2)), "=", Decimal("2.5"), False),
        (stats("TimestampMicrosWrapper", 0, 10), "=", datetime(1970, 1, 2), True),
        (
            stats("TimestampMicrosWrapper", 0, 10),
            "=",
            datetime(1970, 1, 2, tzinfo=timezone.utc),
            False,
        ),
        (stats("TimeMicrosWrapper", time(1), time(2)), "=", 20, True),
        (stats("TimeMicrosWrapper", time(1), time(2)), "=", time(3), False),
        (stats("TimeMicrosWrapper", time(1), time(2)), "=", time(3, tzinfo=timezone.utc), True),
    ],
)
def test_a_file_is_kept_unless_its_statistics_rule_it_out(
    statistics: ColumnStatistics | None, operation: Operator, value: Any, kept: bool
) -> None:
    """Not by another type, nor for NaN, which is not in bounds, nor for truncated texts."""
    assert may_match(statistics, Filter("c", operation, value)) is kept


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


KINDS: dict[str, st.SearchStrategy[Any]] = {
    "LongWrapper": st.integers(-5, 5),
    "DoubleWrapper": st.floats(width=16),
    "StringWrapper": st.text("ab", max_size=4),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[ColumnStatistics, list[Any], Any]:
    """Draw the rows of a file, correct statistics, and a value."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    rows = draw(st.lists(st.none() | KINDS[kind], min_size=1, max_size=5))
    known = [row for row in rows if row is not None and not _is_nan(row)]
    low = high = None
    if known:
        low, high = min(known), max(known)
        if kind == "StringWrapper":
            length = draw(st.integers(1, 4))
            low, high = low[:length], high[:length]
    nulls = rows.count(None)
    wrapper = kind if known else None
    return stats(wrapper, low, high, len(rows), nulls), rows, draw(KINDS[kind])


@given(columns(), st.sampled_from(sorted(COMPARISONS)))
def test_no_file_with_a_matching_row_is_pruned(
    column: tuple[ColumnStatistics, list[Any], Any], operation: Operator
) -> None:
    """NaN is greater than any number, as in Spark, and texts may be truncated."""
    statistics, rows, value = column

    def order(row: Any) -> Any:
        return (_is_nan(row), 0 if _is_nan(row) else row)

    wanted = any(
        row is not None and COMPARISONS[operation](order(row), order(value)) for row in rows
    )
    assert may_match(statistics, Filter("c", operation, value)) or not wanted
    nulls = may_match(statistics, Filter("c", "is null"))
    assert nulls or None not in rows


def test_files_are_pruned_by_all_conditions() -> None:
    """Files without statistics are kept."""
    fs = MemoryFileSystem()
    files = {f"f{n}": 100 + n for n in range(10)}
    known = {
        ("city=a", name): [
            ColumnStatistics("", name, "id", "LongWrapper", 10 * n, 10 * n + 9, 10, 0),
            ColumnStatistics("", name, "text", "StringWrapper", f"t{n}", f"t{n}", 10, 0),
        ]
        for n, name in enumerate(files)
    }
    made = dataset(fs, [])
    properties_of_first = Change({"city=a": files}, statistics=known)
    fs.delete(f"{PATH}/.hoodie/metadata", recursive=True)
    made.bootstrap(properties_of_first, "trips")
    made.commit(Change({"city=b": {"f0": 1}}))

    def pruned(*filters: Filter) -> list[str]:
        with MetadataTable(fs, PATH) as table:
            return [each.path.removeprefix(f"{PATH}/") for each in table.prune(filters)]

    assert pruned(Filter("id", ">=", 85)) == ["city=a/f8", "city=a/f9", "city=b/f0"]
    assert pruned(Filter("id", ">=", 85), Filter("text", "=", "t8")) == ["city=a/f8", "city=b/f0"]
    assert len(pruned(Filter("other", "=", 1))) == 11
    made.commit(Change({"city=a": {"f0": 3}}, {"city=a": ["f9"]}))
    assert pruned(Filter("id", ">=", 85)) == ["city=a/f0", "city=a/f8", "city=b/f0"]
    made.compact()
    assert pruned(Filter("id", ">=", 85)) == ["city=a/f0", "city=a/f8", "city=b/f0"]
