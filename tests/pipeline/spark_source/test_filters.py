"""Tests of filters: accepted ones, remaining blocks, and remaining rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import datasource as api

from fscontract.pipeline.spark_source.filters import Condition, condition_of
from fscontract.pipeline.spark_source.planning import kept_runs
from tests.pipeline.spark_source.test_planning import run

TYPES: dict[str, type] = {"value": str, "path": str, "block_id": int, "offset": int}


def taken(pushed: Any) -> Condition:
    """Return the condition of an accepted filter."""
    found = condition_of(pushed, TYPES)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("pushed", "value", "holds"),
    [
        (api.EqualTo(("path",), "/a"), "/a", True),
        (api.Not(api.EqualTo(("path",), "/a")), "/a", False),
        (api.In(("path",), ("/a", "/b")), "/b", True),
        (api.StringStartsWith(("path",), "/a"), "/ab", True),
        (api.StringEndsWith(("path",), ".log"), "/a.txt", False),
        (api.StringContains(("path",), "b"), "/abc", True),
        (api.GreaterThan(("path",), "/a"), "/b", True),
        (api.LessThanOrEqual(("offset",), 4), 4, True),
        (api.EqualNullSafe(("offset",), 4), 5, False),
        (api.IsNotNull(("value",)), "x", True),
        (api.IsNull(("value",)), "x", False),
    ],
    ids=str,
)
def test_condition_agrees_with_the_filter(pushed: Any, value: Any, holds: bool) -> None:
    """For one value, and for an array."""
    condition = taken(pushed)
    assert condition.holds(value) is holds
    assert condition.mask(pa.array([value])).to_pylist() == [holds]


@pytest.mark.parametrize(
    "pushed",
    [
        api.EqualTo(("other",), 1),
        api.EqualTo(("value", "part"), "x"),
        api.EqualTo(("offset",), "4"),
        api.EqualTo(("offset",), True),
        api.EqualNullSafe(("value",), None),
        api.In(("value",), ("a", None)),
        api.StringContains(("offset",), "1"),
    ],
    ids=str,
)
def test_other_filters_stay_with_spark(pushed: Any) -> None:
    """Filters of unknown columns or other types, and those with nulls."""
    assert condition_of(pushed, TYPES) is None


def test_bytes_are_compared_for_equality_alone() -> None:
    """Their order is left to Spark."""
    types = {**TYPES, "value": bytes}
    assert condition_of(api.EqualTo(("value",), b"x"), types) is not None
    assert condition_of(api.GreaterThan(("value",), b"x"), types) is None


numbers = st.integers(-5, 130)
conditions = st.lists(
    st.one_of(
        st.builds(
            Condition,
            st.sampled_from(["offset", "block_id"]),
            st.sampled_from(["eq", "lt", "le", "gt", "ge"]),
            numbers,
            st.booleans(),
        ),
        st.builds(
            Condition,
            st.sampled_from(["offset", "block_id"]),
            st.just("in"),
            st.lists(numbers, max_size=3).map(tuple),
            st.booleans(),
        ),
    ),
    max_size=3,
)


@given(conditions, st.integers(1, 130), st.integers(1, 40), st.data())
def test_no_block_is_left_out_that_has_a_row(
    found: list[Condition], length: int, size: int, data: st.DataObject
) -> None:
    """Rows start within their block, or exactly at its end."""
    whole = run(length, size, data.draw(st.integers(0, length - 1)))
    kept = {b.block_id for one in kept_runs([whole], found) for b in one.blocks()}
    for block in whole.blocks():
        starts = range(block.offset, block.end + 1)
        ids = [c for c in found if c.column == "block_id"]
        rows = [c for c in found if c.column == "offset"]
        if all(c.holds(block.block_id) for c in ids):
            wanted = any(all(c.holds(start) for c in rows) for start in starts)
            assert block.block_id in kept or not wanted


def test_bounds_leave_few_blocks() -> None:
    """Of a file with a hundred blocks."""
    whole = run(1000, 10)
    for low, high, blocks in [(500, 509, (49, 51)), (0, 3, (0, 1)), (-9, -1, (0, 0))]:
        found = [Condition("offset", "ge", low), Condition("offset", "le", high)]
        assert [(r.first, r.stop) for r in kept_runs([whole], found)] == (
            [blocks] if blocks[1] else []
        )
    (kept,) = kept_runs([whole], [Condition("block_id", "in", (7, 9))])
    assert (kept.first, kept.stop) == (7, 10)


def test_nothing_is_null() -> None:
    """So a filter for nulls selects no files."""
    assert kept_runs([run(10, 1)], [Condition("value", "null", None)]) == []
    assert len(kept_runs([run(10, 1)], [Condition("value", "null", None, True)])) == 1
