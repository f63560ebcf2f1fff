"""Tests of missing files in a metadata table: deleted, or removed while being read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.commit_metadata import WrittenFile, encode_commit
from fscontract.pipeline.hudi.file_slices import FileSlice, LogFile, check_slices
from fscontract.pipeline.hudi.io import MetadataException, write_file
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import (
    COMPLETED,
    FIRST_INSTANT,
    Instant,
    LogName,
    Timeline,
)
from fscontract.pipeline.hudi.writer import Change
from tests.pipeline.hudi.support import FILES, PATH, dataset, name, seen

A = "city=a"


@pytest.mark.parametrize("ending", [".hfile", ".log.1_0-0-0"])
@pytest.mark.parametrize("partition", ["files", "column_stats"])
def test_a_file_of_the_table_that_is_gone_is_missed(partition: str, ending: str) -> None:
    """By readers, and by a compaction, which would make the loss permanent."""
    fs = MemoryFileSystem()
    known = {(A, name(0)): [ColumnStatistics("", name(0), "id", "LongWrapper", 1, 5, 10, 0)]}
    made = dataset(fs, [A], 1, statistics=known)
    made.commit(Change({A: {"one": 1}}))
    made.commit(Change())  # has no log, so nothing is missing
    made.commit(Change({A: {"two": 2}}))
    with MetadataTable(fs, PATH) as table:
        assert len(table.prune([Filter("id", ">", 7)])) == 2
    folder = FILES.replace("files", partition)
    gone = next(s.path for s in fs.list_status(folder) if s.path.endswith(ending))
    fs.delete(gone)
    with MetadataTable(fs, PATH) as table, pytest.raises(MetadataException, match="is missing"):
        table.prune([Filter("id", ">", 7)])
    with pytest.raises(MetadataException, match="is missing"):
        made.compact()


@pytest.mark.parametrize(("times", "opens"), [(1, True), (2, True), (3, False)])
def test_instants_that_are_archived_while_they_are_listed(times: int, opens: bool) -> None:
    """An incomplete listing is repeated, a few times."""

    class Archived(MemoryFileSystem):
        left = 0

        def list_status(self, path: str) -> Iterator[FileStatus]:
            found = list(super().list_status(path))
            if self.left and path.endswith("metadata/.hoodie/timeline"):
                found = [each for each in found if middle not in each.path]
            return iter(found)

        def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
            if self.left and middle in path:
                self.left -= 1
                raise FileNotFoundException(path, "archived")
            return super().open(path, buffer_size)

    fs = Archived()
    made = dataset(fs)
    middle = made.commit(Change({A: {"one": 1}})).time
    made.commit(Change(deleted={A: ["one"]}))
    fs.left = times
    if opens:
        assert "one" not in seen(fs)[A]
    else:
        with pytest.raises(FileNotFoundError):
            seen(fs)


@pytest.mark.parametrize(("groups", "is_missing"), [("a", False), ("ab", True), ("", True)])
def test_logs_are_not_missed_in_file_groups_that_were_compacted_since(
    groups: str, is_missing: bool
) -> None:
    """Though another file group never had a log, and so no base file."""
    fs, metadata = MemoryFileSystem(), f"{PATH}/.hoodie/metadata"
    made, later = "20260101000000000", "20260102000000000"
    written = [WrittenFile("record_index", group, group, 1) for group in groups or "x"]
    done = Instant(made, "deltacommit", COMPLETED, made)
    write_file(fs, f"{metadata}/{done.path}", encode_commit(written, "UPSERT"))
    status = FileStatus(f"{metadata}/record_index/a.hfile", 1)
    first = LogFile(LogName("b", FIRST_INSTANT), status, FIRST_INSTANT)
    slices = [FileSlice("a", later, status, ()), FileSlice("b", "", None, (first,))]
    timeline = Timeline([done])

    def check() -> None:
        check_slices(fs, metadata, "record_index", slices, timeline, timeline)

    if is_missing:
        with pytest.raises(MetadataException, match=f"log of {made} in 'record_index' is missing"):
            check()
    else:
        check()
