"""Tests of file slices of a table's rows."""

from __future__ import annotations

import pytest

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.hudi.data_files import SliceRules, data_slices
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.timeline import COMPLETED, REQUESTED, Instant, Timeline
from tests.pipeline.hudi.row_tables import time

TIMELINE = Timeline(
    [
        Instant(time(1), "deltacommit", COMPLETED, time(1)),
        Instant(time(2), "deltacommit", COMPLETED, time(6)),
        Instant(time(3), "deltacommit", COMPLETED, time(4)),
        Instant(time(5), "commit", COMPLETED, time(7)),
        Instant(time(8), "deltacommit", REQUESTED),
    ]
)


def statuses(*names: str) -> list[FileStatus]:
    return [FileStatus(f"/t/{name}", 1) for name in names]


def base(number: int, group: str = "g-0", suffix: str = "parquet") -> str:
    return f"{group}_0-1-0_{time(number)}.{suffix}"


def log(number: int, version: int = 1, token: str = "_0-1-0") -> str:
    return f".g-0_{time(number)}.log.{version}{token}"


def logs(names: list[str], rules: SliceRules) -> list[str]:
    """Return the logs of the only slice, in order."""
    (item,) = data_slices(statuses(*names), rules)
    return [each.status.path.removeprefix("/t/") for each in item.logs]


def test_a_log_belongs_to_the_base_files_requested_before_it_completed() -> None:
    names = [base(1), log(2), log(3), base(5)]
    assert logs(names, SliceRules(TIMELINE)) == [log(2)]
    assert logs(names[:3], SliceRules(TIMELINE)) == [log(2), log(3)]


def test_logs_are_ordered_by_instant_version_and_numbers_of_the_token() -> None:
    ordered = [log(2, 9), log(2, 10), log(2, 10, "_0-2-0"), log(2, 10, "_0-10-0"), log(3, 1, "")]
    assert logs(ordered[::-1], SliceRules(TIMELINE)) == ordered


def test_logs_named_after_base_files_belong_to_these() -> None:
    rules = SliceRules(TIMELINE, by_base=True)
    assert logs([base(1), log(1), log(5), base(5)], rules) == [log(5)]
    assert logs([base(1), log(1), log(8)], rules) == [log(1), log(8)]


def test_files_of_pending_and_later_instants_are_left_out() -> None:
    (item,) = data_slices(statuses(base(1), base(5), base(8), log(8)), SliceRules(TIMELINE))
    assert (item.base_instant, item.logs) == (time(5), ())
    (item,) = data_slices(statuses(base(1), base(5), log(3)), SliceRules(TIMELINE, time(2)))
    assert (item.base_instant, item.logs) == (time(1), ())


def test_files_older_than_the_timeline_count() -> None:
    (item,) = data_slices(statuses(base(0)), SliceRules(TIMELINE))
    assert item.base_instant == time(0)


def test_replaced_file_groups_are_left_out() -> None:
    found = data_slices(statuses(base(1), base(1, "h-0"), log(3)), SliceRules(TIMELINE), ["g-0"])
    assert [item.group for item in found] == ["h-0"]


@pytest.mark.parametrize(
    "name",
    [
        f".{base(1)}.crc",
        f".{log(2)}.crc",
        "_SUCCESS",
        f"._{base(1)}",
        f".{base(1)}.part.parquet",
        f"._{log(2)}",
        "notes.txt",
        log(2) + ".cdc",
    ],
)
def test_files_without_rows_are_ignored(name: str) -> None:
    assert data_slices(statuses(name), SliceRules(TIMELINE)) == []


@pytest.mark.parametrize(
    "name", ["part-0.parquet", "g-0_0-1-0_20260101000001.parquet", ".g-0_2026.log.1_0-1-0"]
)
def test_files_of_rows_with_other_names_are_refused(name: str) -> None:
    with pytest.raises(MetadataException, match="does not follow Hudi's naming"):
        data_slices(statuses(name), SliceRules(TIMELINE))
