"""Tests of timelines and properties."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import FileAlreadyExistsException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.table_location import (
    format_properties,
    parse_properties,
    read_properties,
    table_checksum,
    write_properties,
)
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    BaseName,
    Instant,
    LogName,
    Timeline,
    TimelineWriter,
    group_names,
    group_number,
    group_of,
    instant_after,
    load_timeline,
    parse_instant,
    parse_name,
)
from tests.pipeline.hudi.support import PATH, get, put

ONE, TWO, THREE = (f"2026010100000{n}000" for n in (1, 2, 3))
INSTANTS = {
    f"{ONE}.commit.requested": Instant(ONE, "commit", "requested"),
    f"{ONE}.inflight": Instant(ONE, "commit", "inflight"),
    f"{ONE}_{TWO}.commit": Instant(ONE, "commit", "completed", TWO),
    f"{ONE}.deltacommit.inflight": Instant(ONE, "deltacommit", "inflight"),
    f"{ONE}.compaction.inflight": Instant(ONE, "compaction", "inflight"),
    f"{ONE}_{TWO}.rollback": Instant(ONE, "rollback", "completed", TWO),
}


@pytest.mark.parametrize("name", INSTANTS)
def test_an_instant_is_a_files_name(name: str) -> None:
    assert parse_instant(name) == INSTANTS[name]
    assert INSTANTS[name].file_name == name


def test_a_compaction_is_a_commit_once_it_is_done() -> None:
    assert Instant(ONE, "compaction", "completed", TWO).file_name == f"{ONE}_{TWO}.commit"


@pytest.mark.parametrize("name", ["history", f"{ONE}.commit", "1.commit", f"{ONE}_{TWO}.inflight"])
def test_other_files_are_not_instants(name: str) -> None:
    assert parse_instant(name) is None


def test_instant_has_its_latest_state() -> None:
    timeline = Timeline([INSTANTS[f"{ONE}_{TWO}.commit"], INSTANTS[f"{ONE}.inflight"]])
    assert timeline.completed == {ONE: TWO}
    assert timeline.pending == []
    assert timeline.latest == TWO


def test_instants_older_than_the_timeline_count_as_completed() -> None:
    timeline = Timeline([Instant(TWO, "commit", "inflight")])
    assert timeline.holds(ONE)
    assert not timeline.holds(TWO)
    assert not timeline.holds(THREE)
    assert not Timeline([]).holds(ONE)


def test_an_instant_is_requested_once() -> None:
    """The second writer takes the next millisecond."""
    fs = MemoryFileSystem()
    writer = TimelineWriter(fs, PATH, lambda: datetime(2026, 1, 1, tzinfo=timezone.utc))
    first = writer.request("commit", Timeline([]))
    second = writer.request("commit", Timeline([]))
    assert (first.time, second.time) == ("20260101000000000", "20260101000000001")
    with pytest.raises(FileAlreadyExistsException):
        writer.put(first)


def test_of_two_that_make_an_instant_at_once_one_does(tmp_path: Path) -> None:
    """Both begin with an empty timeline."""
    for fs in (MemoryFileSystem(), LocalFileSystem(str(tmp_path))):
        first, second = (fs.create("/instant", overwrite=False) for _ in range(2))
        first.write(b"first")
        first.close()
        with pytest.raises(FileAlreadyExistsException):
            second.close()
        assert get(fs, "/instant") == b"first"
        assert [each.path for each in fs.list_status("/")] == ["/instant"]


def test_times_increase_if_the_clock_goes_back() -> None:
    writer = TimelineWriter(
        MemoryFileSystem(), PATH, lambda: datetime(2020, 1, 1, tzinfo=timezone.utc)
    )
    assert writer.request("commit", Timeline([INSTANTS[f"{ONE}_{TWO}.commit"]])).time > TWO


def test_the_next_millisecond_is_a_time() -> None:
    assert instant_after("20261231235959999") == "20270101000000000"
    assert instant_after("00000000000000000") == "00000000000000001"


def test_missing_timeline_is_empty() -> None:
    assert load_timeline(MemoryFileSystem(), PATH).instants == {}


@pytest.mark.parametrize(
    "name",
    [
        BaseName("files-0000-0", ONE, "23-1133-3302"),
        LogName("files-0000-0", ONE, 1, "10-999-2838"),
        LogName("secondary-index-rider-idx-0006-0", ONE, 12),
    ],
)
def test_the_parts_of_a_name_are_found_in_it(name: BaseName | LogName) -> None:
    assert parse_name(str(name)) == name


@pytest.mark.parametrize("name", [".hoodie_partition_metadata", "a.parquet", f".x_{ONE}.log.1"])
def test_other_names_have_no_parts(name: str) -> None:
    assert parse_name(name) is None


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_properties_are_read_as_they_were_written(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties, "a comment")) == properties


def test_properties_are_read_as_java_writes_them() -> None:
    text = '# comment\n! too\nschema={"a"\\:1,\\\n  "b"\\:2}\nempty=\nu=\\u00e9\nx : y\n'
    assert parse_properties(text) == {
        "schema": '{"a":1,"b":2}',
        "empty": "",
        "u": "é",
        "x": "y",
    }


@pytest.mark.parametrize(
    ("properties", "checksum"),
    [
        (
            {"hoodie.database.name": "default", "hoodie.table.name": "v8_trips_8i3u1d"},
            "1197752875",
        ),
        ({"hoodie.table.name": "v8_trips_8i3u1d_metadata"}, "380169000"),
    ],
)
def test_the_checksum_of_properties_is_hudis(properties: dict[str, str], checksum: str) -> None:
    """Taken from a table that Hudi 1.0 wrote."""
    assert table_checksum(properties) == checksum


def test_properties_of_another_table_are_detected() -> None:
    fs = MemoryFileSystem()
    write_properties(fs, "/p", {"hoodie.table.name": "one"})
    assert read_properties(fs, "/p")["hoodie.table.name"] == "one"
    put(fs, "/p", b"hoodie.table.name=two\nhoodie.table.checksum=1\n")
    with pytest.raises(MetadataException, match="checksum"):
        read_properties(fs, "/p")


GROUPS = [f"col-stats-000{number}-0" for number in range(3)]


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("", 0),
        ("a", 97 % 3),
        ("Aa", 2112 % 3),
        ("polygenelubricants", (1 << 31) % 3),  # Java's smallest integer
        ("\U0001f600", 1772899 % 3),  # two characters of Java
    ],
)
def test_group_of_a_key_is_javas_hash_modulo_the_groups(key: str, number: int) -> None:
    assert group_of(key, GROUPS) == GROUPS[number]


def test_every_key_belongs_to_the_only_group() -> None:
    assert group_of("any", GROUPS[:1]) == GROUPS[0]


def test_groups_are_in_order_and_without_failed_instants() -> None:
    timeline = Timeline([Instant("2" * 17, "deltacommit", COMPLETED, "3" * 17)])
    names = [
        f"col-stats-0010-0_0-0-0_{'2' * 17}.hfile",
        f".col-stats-0009-0_{'2' * 17}.log.1_0-0-0",
        f"col-stats-0011-0_0-0-0_{'4' * 17}.hfile",
        ".hoodie_partition_metadata",
    ]
    statuses = [FileStatus(f"/t/{name}", 1) for name in names]
    assert group_names(statuses, timeline) == ["col-stats-0009-0", "col-stats-0010-0"]


def test_group_without_a_number_is_recognised() -> None:
    assert group_number("group") == -1
