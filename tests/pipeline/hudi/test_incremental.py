"""Tests of incremental queries on tables written here, also against hudi-rs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.pipeline.hudi.io import MetadataException, write_file
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant
from tests.pipeline.hudi.row_tables import (
    GROUP,
    PATH,
    RowTable,
    archive,
    avro_block,
    delete_block,
    parquet,
    time,
)
from tests.pipeline.hudi.test_snapshot import (
    BASE,
    OTHER,
    STEPS,
    clean_content,
    play,
    replace_commit,
    with_base,
)

FIRST = "0" * 17


def completed(number: int) -> str:
    """Return the completion time of an instant of a RowTable."""
    return time(number)[:-3] + "500"


def updated(version: int = 9) -> RowTable:
    """Return a table with a base file, and a log that updates one row, deletes one and adds one."""
    table = with_base(version)
    second = table.complete(2)
    blocks = avro_block(second, [("a", 2, "a2"), ("d", 1, "d1")]), delete_block(second, {"b": None})
    table.log(second if version >= 8 else time(1), *blocks)
    return table


@pytest.mark.parametrize("version", [6, 9])
def test_rows_are_those_that_commits_after_begin_wrote(version: int) -> None:
    table = updated(version)
    begin = time(1) if version < 8 else completed(1)
    assert table.rows(begin=begin) == [("a", 2, "a2"), ("d", 1, "d1")]
    assert table.rows(begin=FIRST) == [("a", 2, "a2"), ("c", 5, "c5"), ("d", 1, "d1")]
    assert table.rows(begin=completed(2)) == []


def test_rows_are_those_of_the_state_at_the_end() -> None:
    table = updated()
    assert table.rows(begin=FIRST, end=completed(1)) == BASE
    assert table.rows(begin=completed(1), end=completed(1)) == []


def test_completion_times_decide_and_begin_is_excluded() -> None:
    table = updated()
    assert table.rows(begin=time(2), end=completed(2)) == [("a", 2, "a2"), ("d", 1, "d1")]
    assert table.rows(begin=completed(1), end=time(2)) == []


def test_a_commit_that_began_earlier_and_completed_later_is_in_the_interval() -> None:
    table = RowTable()
    slow = Instant(time(1), "deltacommit", COMPLETED, completed(3))
    write_file(table.fs, f"{PATH}/{slow.path}", b"{}")
    table.base(time(1), [("slow", 1, "s")])
    table.base(table.complete(2), [("fast", 1, "f")], OTHER)
    assert table.rows(begin=completed(2)) == [("slow", 1, "s")]
    assert table.rows(begin=FIRST, end=completed(2)) == [("fast", 1, "f")]


def test_rows_of_a_compaction_keep_the_commit_that_wrote_them() -> None:
    table = updated()
    third = table.complete(3, "commit")
    path = f"{PATH}/{GROUP}_0-1-0_{third}.parquet"
    write_file(table.fs, path, parquet([("a", 2, "a2")], time(2)))
    assert table.rows(begin=completed(1)) == [("a", 2, "a2")]
    assert table.rows(begin=completed(2)) == []


def test_file_slices_without_later_files_are_not_read() -> None:
    table = with_base()
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    write_file(table.fs, f"{PATH}/{GROUP}_0-1-0_{time(1)}.parquet", b"damaged", replace=True)
    assert table.rows(begin=completed(1)) == [("z", 1, "z1")]
    with pytest.raises(MetadataException, match=GROUP):
        table.rows(begin=FIRST)


def test_read_optimised_queries_ignore_logs() -> None:
    table = updated()
    assert table.rows(begin=FIRST, mode="read-optimised") == BASE
    assert table.rows(begin=completed(1), mode="read-optimised") == []


def test_rows_of_a_replaced_file_group_count_until_its_replacement() -> None:
    table = with_base()
    table.base(table.complete(2, "replacecommit", replace_commit(GROUP)), [("z", 1, "z1")], OTHER)
    assert table.rows(begin=FIRST) == [("z", 1, "z1")]
    assert table.rows(begin=FIRST, end=completed(1)) == BASE


def test_an_end_before_a_clean_is_refused_if_files_were_deleted() -> None:
    table = updated()
    table.complete(3, "clean", clean_content(time(3)))
    with pytest.raises(MetadataException, match=f"instant {completed(1)} was cleaned"):
        table.rows(begin=FIRST, end=completed(1))
    assert table.rows(begin=FIRST, end=completed(2)) == table.rows(begin=FIRST)


def test_a_clean_that_kept_the_state_at_the_end_is_accepted() -> None:
    table = updated()
    table.complete(3, "clean", clean_content(time(2)))
    assert table.rows(begin=FIRST, end=completed(1)) == BASE


def test_rows_of_archived_commits_are_refused_unless_begin_is_later() -> None:
    table = RowTable()
    table.base(time(1), BASE)
    table.complete(2)
    table.base(table.complete(3), [("z", 1, "z1")], OTHER)
    with pytest.raises(MetadataException, match=f"completion time of {time(1)} was archived") as e:
        table.rows(begin=FIRST)
    assert f"begin must be {time(2)} or later" in str(e.value)
    assert table.rows(begin=time(2)) == [("z", 1, "z1")]


def test_the_history_has_the_completion_times_of_archived_commits() -> None:
    table = RowTable()
    table.base(time(1), BASE)
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    archive(table, {time(1): completed(1)})
    assert table.rows(begin=FIRST) == [*BASE, ("z", 1, "z1")]
    assert table.rows(begin=completed(1)) == [("z", 1, "z1")]
    assert table.rows(begin=time(1), end=time(2)) == BASE


def test_archived_commits_before_version_8_need_no_history() -> None:
    table = RowTable(6)
    table.base(time(1), BASE)
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    assert table.rows(begin=FIRST) == [*BASE, ("z", 1, "z1")]
    assert table.rows(begin=time(1)) == [("z", 1, "z1")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"begin": "yesterday"}, "invalid instant 'yesterday'; must be 17 digits"),
        ({"end": time(1)}, "missing begin"),
        ({"begin": time(2), "end": time(1)}, f"end {time(1)} must not be before begin {time(2)}"),
        ({"begin": time(1), "as_of": time(1)}, "as_of is for snapshots"),
    ],
    ids=["instant", "end alone", "order", "as_of"],
)
def test_invalid_intervals_raise_value_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_base().rows(**options)


def test_tables_without_commit_times_are_refused() -> None:
    table = with_base(properties={"hoodie.populate.meta.fields": "false"})
    with pytest.raises(MetadataException, match="rows have no _hoodie_commit_time"):
        table.rows(begin=FIRST)


def test_an_end_before_the_timeline_is_refused() -> None:
    with pytest.raises(MetadataException, match="older than the timeline"):
        with_base().rows(begin=FIRST, end=time(0))


def written_in(steps: list[tuple[str, dict[str, int]]], begin: int) -> set[tuple[str, int, str]]:
    """Return the rows after some steps whose commit is one of the steps after `begin`.

    A value names the step that wrote it; a compaction of these tables writes all rows anew.
    """
    compactions = [number for number, (step, _) in enumerate(steps, 1) if step == "compact"]
    last = max(compactions, default=0)
    state = play(RowTable(), steps)
    return {(k, ts, v) for k, (ts, v) in state.items() if max(last, int(v[1:])) > begin}


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.lists(STEPS, min_size=2, max_size=6))
def test_incremental_queries_of_any_history_equal_a_model(
    steps: list[tuple[str, dict[str, int]]],
) -> None:
    table = RowTable()
    play(table, steps)
    for begin, end in itertools.combinations(range(1, len(steps) + 1), 2):
        rows = set(table.rows(begin=completed(begin), end=completed(end)))
        assert rows == written_in(steps[:end], begin)
