"""Tests of tables before version 8, whose instants are in `.hoodie`: listed and written."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.scenarios.instrumented_filesystem import (
    DEATHS,
    InstrumentedFileSystem,
    Killed,
)
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.commit_metadata import WrittenFile, encode_commit
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.table_location import parse_properties, write_properties
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import (
    PATH,
    PROPERTIES,
    Ticks,
    get,
    name,
    put,
    seen_by_hudi,
    writer,
)

A, B = "city=a", "city=b"
DONE = "20260101000000000"
FIELDS = [{"name": "id", "type": "long"}, {"name": "city", "type": "string"}]
SCHEMA = json.dumps({"type": "record", "name": "row", "fields": FIELDS})
UNSUPPORTED = "unsupported metadata table of version 6: must be 8 or later"


def put_rows(fs: FileSystem, partition: str, file: str) -> dict[str, int]:
    """Write a Parquet file; return its size by name."""
    path = f"{PATH}/{partition}/{file}"
    with fs.create(path) as out:
        pq.write_table(pa.table({"id": [1, 2], "city": ["a", "a"]}), out)
    return {file: fs.get_file_status(path).length}


def early(fs: FileSystem, indexed: bool = False) -> MetadataWriter:
    """Create a table of version 6 with a commit of two files; return a writer."""
    files = {partition: put_rows(fs, partition, name(0, DONE)) for partition in (A, B)}
    properties = {
        "hoodie.table.name": "trips",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "6",
        "hoodie.timeline.layout.version": "1",
        "hoodie.table.partition.fields": "city",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.table.create.schema": SCHEMA,
    }
    if indexed:
        properties["hoodie.table.metadata.partitions"] = "files"
        put(fs, f"{PATH}/.hoodie/metadata/files/files-0000-0_0-0-0_{'0' * 17}.hfile", b"x")
    write_properties(fs, PROPERTIES, properties)
    written = [
        WrittenFile(partition, file.partition("_")[0], f"{partition}/{file}", size)
        for partition, sizes in files.items()
        for file, size in sizes.items()
    ]
    put(fs, f"{PATH}/.hoodie/{DONE}.commit.requested", b"")
    put(fs, f"{PATH}/.hoodie/{DONE}.inflight", b"")
    content = encode_commit(written, "INSERT", {"schema": SCHEMA}, as_json=True)
    put(fs, f"{PATH}/.hoodie/{DONE}.commit", content)
    return writer(fs)


def listed(fs: FileSystem) -> dict[str, set[str]]:
    """Return the names of the dataset's files by partition, from a listing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with FileListing(fs, PATH) as files:
            return {
                partition: {status.path.rpartition("/")[2] for status in statuses}
                for partition, statuses in files.list_all().items()
            }


def commit(made: MetadataWriter, fs: FileSystem, number: int) -> str:
    """Commit a file; return its name."""
    instant = made.begin()
    file = name(number, instant.time)
    made.finish(instant, Change({A: put_rows(fs, A, file)}))
    return file


def test_table_of_an_early_version_is_listed_without_files_of_pending_actions() -> None:
    """Its instants are in `.hoodie`, and completed ones have one time."""
    fs = MemoryFileSystem()
    done, pending = "20260101000000000", "20260102000000000"
    put(fs, PROPERTIES, b"hoodie.table.version=6\nhoodie.table.metadata.partitions=files\n")
    for file in (f"{done}.commit", f"{done}.commit.requested", f"{done}.inflight"):
        put(fs, f"{PATH}/.hoodie/{file}", b"")
    for file in (f"{pending}.commit.requested", f"{pending}.inflight"):
        put(fs, f"{PATH}/.hoodie/{file}", b"")
    for time in (done, pending):
        put(fs, f"{PATH}/{A}/f-0_0-0-0_{time}.parquet", b"1")
    with (
        pytest.warns(MetadataWarning, match=UNSUPPORTED),
        FileListing(fs, PATH) as files,
    ):
        assert [status.path for status in files.list_files(A)] == [
            f"{PATH}/{A}/f-0_0-0-0_{done}.parquet"
        ]


def test_a_commit_has_the_names_and_the_content_of_the_version() -> None:
    fs = MemoryFileSystem()
    made = early(fs)
    file = commit(made, fs, 1)
    time = file.rpartition("_")[2].partition(".")[0]
    names = {s.path.rpartition("/")[2] for s in fs.list_status(f"{PATH}/.hoodie")}
    assert {f"{time}.commit.requested", f"{time}.inflight", f"{time}.commit"} <= names
    assert "timeline" not in names
    (written,) = json.loads(get(fs, f"{PATH}/.hoodie/{time}.commit"))["partitionToWriteStats"][A]
    assert written["path"] == f"{A}/{file}"
    assert listed(fs)[A] == {name(0, DONE), file}


def test_hudi_rs_lists_commits_cleans_rollbacks_and_restores(tmp_path: Path) -> None:
    fs = LocalFileSystem(str(tmp_path), durable=False)
    made = early(fs)
    assert seen_by_hudi(str(tmp_path)) == listed(fs)
    first = commit(made, fs, 1)
    assert (
        seen_by_hudi(str(tmp_path))
        == listed(fs)
        == {
            A: {name(0, DONE), first},
            B: {name(0, DONE)},
        }
    )
    commit(made, fs, 2)
    (to,) = (each for each in made.timelines()[0].instants.values() if each.time in first)
    made.restore(to)
    assert seen_by_hudi(str(tmp_path)) == listed(fs)
    failed = made.begin()
    put_rows(fs, A, name(3, failed.time))
    assert seen_by_hudi(str(tmp_path)) == listed(fs)
    made.roll_back(failed, {A: [name(3, failed.time)]})
    made.clean({B: [name(0, DONE)]})
    assert seen_by_hudi(str(tmp_path)) == listed(fs) == {A: {name(0, DONE), first}}


def test_metadata_table_of_the_version_is_removed_with_a_warning() -> None:
    fs = MemoryFileSystem()
    made = early(fs, indexed=True)
    with pytest.warns(MetadataWarning, match="removed, because tables of version 6") as caught:
        file = commit(made, fs, 1)
    assert len(caught) == 1
    assert "hoodie.table.metadata.partitions" not in parse_properties(get(fs, PROPERTIES).decode())
    assert not [s for s in fs.list_status(f"{PATH}/.hoodie") if s.path.endswith("/metadata")]
    assert listed(fs)[A] == {name(0, DONE), file}


def test_metadata_table_of_the_version_is_not_created() -> None:
    made = early(MemoryFileSystem())
    with pytest.raises(MetadataException, match="table version 6: must be 8 or 9"):
        made.initialize()


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("number", range(1, 12))
def test_writer_that_dies_leaves_the_files_before_or_after_its_commit(
    number: int, death: str
) -> None:
    """The next writer removes the rest."""
    fs = InstrumentedFileSystem(MemoryFileSystem())
    made = early(fs, indexed=True)
    before = listed(fs)
    fs.clear_log()
    fs.kill_at, fs.death = number, death
    with suppress(Killed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        commit(made, fs, 1)
    fs.revive()
    after = listed(fs)
    assert before[B] == after[B]
    assert before[A] <= after[A]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = commit(MetadataWriter(fs, PATH, Ticks(1000)), fs, 2)
    assert listed(fs) == {A: after[A] | {file}, B: after[B]}
    on_disk = {s.path.rpartition("/")[2] for s in fs.list_status(f"{PATH}/{A}")}
    assert on_disk == after[A] | {file}


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"partitionToWriteStats": 1}',
        b'{"partitionToWriteStats": {"a": [1]}}',
        b'{"partitionToWriteStats": {"a": [{"path": 1}]}}',
        b'{"partitionToWriteStats": {"a": [{"path": "a/b", "fileSizeInBytes": "1"}]}}',
        b'{"extraMetadata": 1}',
    ],
)
def test_damaged_commit_is_reported(content: bytes) -> None:
    """As one line that names its file."""
    fs = MemoryFileSystem()
    made = early(fs)
    file = commit(made, fs, 1)
    time = file.rpartition("_")[2].partition(".")[0]
    put(fs, f"{PATH}/.hoodie/{time}.commit", content)
    (to,) = (each for each in made.timelines()[0].instants.values() if each.time == DONE)
    with pytest.raises(MetadataException, match=f"can't read the instant.*{time}.commit"):
        made.restore(to)
