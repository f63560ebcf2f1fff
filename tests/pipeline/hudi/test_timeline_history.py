"""Tests of the history of a timeline: completion times of archived instants."""

from __future__ import annotations

import pytest

from fscontract.pipeline.hudi.io import MetadataException, read_file, write_file
from fscontract.pipeline.hudi.timeline_history import HISTORY, archived_completions
from tests.pipeline.hudi.row_tables import PATH, RowTable, archive

DIRECTORY = f"{PATH}/{HISTORY}"
TIMES = {"20260101000000000": "20260101000001000", "20260102000000000": "20260102000001000"}


def damaged(name: str, content: bytes) -> RowTable:
    """Return a table with a history in which one file has other content."""
    table = RowTable()
    archive(table, TIMES)
    write_file(table.fs, f"{DIRECTORY}/{name}", content, replace=True)
    return table


def test_completion_times_are_those_of_all_files_of_the_manifest() -> None:
    table = RowTable()
    archive(table, TIMES)
    assert archived_completions(table.fs, PATH) == TIMES


def test_a_table_without_archived_instants_has_none() -> None:
    table = RowTable()
    assert archived_completions(table.fs, PATH) == {}
    table.fs.mkdirs(DIRECTORY)
    assert archived_completions(table.fs, PATH) == {}


def test_files_that_the_current_manifest_does_not_name_are_ignored() -> None:
    table = RowTable()
    archive(table, TIMES)
    write_file(table.fs, f"{DIRECTORY}/manifest_9", b'{"files": []}')
    assert archived_completions(table.fs, PATH) == TIMES


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("_version_", b"two", "expected the number of a manifest: .*_version_"),
        ("manifest_2", b"{}", "invalid manifest of the history"),
        ("manifest_2", b"[", "invalid manifest of the history"),
        (
            "manifest_2",
            b'{"files": [{"fileName": "../f", "fileLen": 1}]}',
            "invalid file of the history: '../f'",
        ),
        ("manifest_2", b"x" * (4 << 20) + b"x", "too large: 4194305 bytes"),
        ("1_0.parquet", b"PAR1" * 500, "1_0.parquet"),
    ],
    ids=["version", "fields", "JSON", "name", "size", "Parquet"],
)
def test_a_damaged_history_is_named(name: str, content: bytes, message: str) -> None:
    table = damaged(name, content)
    with pytest.raises(MetadataException, match=message):
        archived_completions(table.fs, PATH)


def test_archived_instants_need_both_times() -> None:
    table = RowTable()
    archive(table, TIMES, names=("instantTime", "end"))
    with pytest.raises(MetadataException, match="no column 'completionTime'"):
        archived_completions(table.fs, PATH)
    assert read_file(table.fs, f"{DIRECTORY}/_version_") == b"2"
