"""Metadata tables that Hudi itself wrote list the files that are there, also after our commits.

FSCONTRACT_HUDI_TABLES names a directory of archives, each with one dataset, such as those in
crates/test/data of apache/hudi-rs. They are too large for this repository.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from uuid import UUID
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.contract.models.metadata_table import difference
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.column_stats import key_partition
from fscontract.pipeline.hudi.hfile.reader import HFileReader
from fscontract.pipeline.hudi.io import FileRegion, open_stream
from fscontract.pipeline.hudi.log import HFILE, read_log, records_of
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.record_codec import decoder, encode_record
from fscontract.pipeline.hudi.record_index import group_names
from fscontract.pipeline.hudi.records import ColumnStatistics, LocationRecord
from fscontract.pipeline.hudi.snapshot import base_files, read
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import parse_properties
from fscontract.pipeline.hudi.timeline import group_of, load_first_layout, load_timeline, parse_name
from fscontract.pipeline.hudi.writer import MetadataWriter

_DIRECTORY = os.environ.get("FSCONTRACT_HUDI_TABLES", "")
ARCHIVES = sorted(Path(_DIRECTORY).glob("*.zip")) if _DIRECTORY else []
#: The names that are no data files.
_OTHERS = (".hoodie_partition_metadata", ".crc")


def extracted(archive: Path, directory: Path) -> Path:
    """Extract a dataset, and return its directory."""
    with ZipFile(archive) as file:
        file.extractall(directory)
    (found,) = directory.glob("*/.hoodie")
    return found.parent


def files_below(root: Path) -> dict[str, dict[str, int]]:
    """Return the sizes of the data files by partition and name."""
    found: dict[str, dict[str, int]] = {}
    for path in root.rglob("*"):
        inside = path.relative_to(root)
        if path.is_file() and inside.parts[0] != ".hoodie" and not path.name.endswith(_OTHERS):
            partition = inside.parent.as_posix().removeprefix(".")
            found.setdefault(partition, {})[path.name] = path.stat().st_size
    return found


def listed(root: Path) -> dict[str, dict[str, int]]:
    """Return the same from the metadata table."""
    with closing(MetadataTable(LocalFileSystem(), str(root))) as table:
        partitions = table.list_many(table.list_partitions()).items()
        return {
            name: {Path(status.path).name: status.length for status in statuses}
            for name, statuses in partitions
        }


needs_tables = pytest.mark.skipif(
    not ARCHIVES, reason="FSCONTRACT_HUDI_TABLES names no directory of archives"
)


@needs_tables
def test_the_table_lists_what_is_in_the_directories(tmp_path: Path) -> None:
    """Of each dataset that has a metadata table; one file less is noticed."""
    checked = 0
    for number, archive in enumerate(ARCHIVES):
        root = extracted(archive, tmp_path / str(number))
        if not (root / ".hoodie" / "metadata").is_dir():
            continue
        checked += 1
        present = files_below(root)
        assert difference(listed(root), present) == "", archive.name
        partition, names = next(iter(present.items()))
        (root / partition / next(iter(names))).unlink()
        assert difference(listed(root), files_below(root)) != "", archive.name
    assert checked


def slices_by_hudi(root: Path) -> set[str]:
    """Return the base files that hudi-rs lists."""
    import hudi

    table = hudi.HudiTableBuilder.from_base_uri(str(root)).build()
    return {f"{each.partition_path}/{each.base_file_name}" for each in table.get_file_slices()}


def rows_by_hudi(root: Path) -> int | None:
    """Return the number of rows that hudi-rs reads; None if it can't read the files' format."""
    import hudi

    with suppress(Exception):
        table = hudi.HudiTableBuilder.from_base_uri(str(root)).build()
        return sum(int(batch.num_rows) for batch in table.read())
    return None


def commit_copies(root: Path, writer: MetadataWriter) -> int:
    """Commit a copy of a base file in each of two partitions; return the number of copies."""
    instant = writer.begin()
    added: dict[str, dict[str, int]] = {}
    for number, (partition, names) in enumerate(sorted(files_below(root).items())[:2]):
        for name in [name for name in names if name.endswith((".parquet", ".lance"))][:1]:
            new = f"{UUID(int=number)}-0_0-1-1_{instant.time}{Path(name).suffix}"
            shutil.copy(root / partition / name, root / partition / new)
            added[partition] = {new: (root / partition / new).stat().st_size}
    writer.finish(instant, Change(added))
    return len(added)


def covered(root: Path) -> bool:
    """Return True if the range of each partition covers those of its current files."""
    current = {name.rpartition("/")[2] for name in slices_by_hudi(root)}
    with MetadataTable(LocalFileSystem(), str(root)) as table:
        for column in table.columns if "partition_stats" in table.partitions else ():
            every = table.column_statistics(column).values()
            of_files = [record for record in every if record.file_name in current]
            keys = {record.key[:24] for record in of_files}
            known = table.partition_statistics(keys)
            if any(not _covers(known.get(record.key[:24]), record) for record in of_files):
                return False
    return True


def _covers(range_: ColumnStatistics | None, of_file: ColumnStatistics) -> bool:
    if of_file.minimum is None:
        return True
    assert key_partition(of_file.key)
    if range_ is None or range_.wrapper != of_file.wrapper:
        return False
    low, high = range_.minimum, range_.maximum
    return bool(low <= of_file.minimum and of_file.maximum <= high)  # type: ignore[operator]


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_a_commit_keeps_a_table_right(archive: Path, tmp_path: Path) -> None:
    """Before and after a compaction; hudi-rs lists and reads the added files, too."""
    root = extracted(archive, tmp_path)
    before, rows = slices_by_hudi(root), rows_by_hudi(root)
    writer = MetadataWriter(LocalFileSystem(durable=False), str(root))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names the removed partitions
        if not (root / ".hoodie" / "metadata").is_dir():
            writer.initialize(columns=None)
        count = commit_copies(root, writer)
    for _ in range(2):
        assert difference(listed(root), files_below(root)) == ""
        after = slices_by_hudi(root)
        assert before < after if count else before == after
        assert len(after) == len(before) + count
        assert rows is None or rows <= (rows_by_hudi(root) or 0) + (not count)
        assert covered(root)
        writer.compact()
        writer.clean_table()
    properties = parse_properties((root / ".hoodie" / "hoodie.properties").read_text())
    names = set(properties["hoodie.table.metadata.partitions"].split(","))
    assert names <= {"files", "column_stats", "partition_stats", "record_index"}
    directories = {path.name for path in (root / ".hoodie" / "metadata").iterdir() if path.is_dir()}
    assert directories == names | {".hoodie"}


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_current_files_of_a_value_are_not_pruned(archive: Path, tmp_path: Path) -> None:
    """By the ranges that Hudi wrote, for the smallest value of each column in each file."""
    root = extracted(archive, tmp_path)
    if not (root / ".hoodie" / "metadata").is_dir():
        return
    current = {name.rpartition("/")[2] for name in slices_by_hudi(root)}
    with MetadataTable(LocalFileSystem(), str(root)) as table:
        for column in table.columns:
            for record in table.column_statistics(column).values():
                if record.file_name in current and record.wrapper in PLAIN:
                    found = table.prune([Filter(column, "=", record.minimum)])
                    assert record.file_name in {Path(status.path).name for status in found}


#: Wrappers of values that a filter has, too.
PLAIN = {"IntWrapper", "LongWrapper", "DoubleWrapper", "StringWrapper", "DecimalWrapper"}


def rows_read(batches: list[Any]) -> list[str] | None:
    """Return the sorted rows of what hudi-rs read; None for a table without rows."""
    if not batches:
        return None
    return sorted(repr(sorted(row.items())) for batch in batches for row in batch.to_pylist())


def rows_here(root: Path, like: Any, **options: Any) -> list[str]:
    """Return the same from a snapshot query, with the types that hudi-rs has."""
    table = pa.concat_tables(read(LocalFileSystem(), str(root), **options))
    return rows_read(table.select(like.names).cast(like).to_batches()) or []


def instants_of(root: Path) -> list[str]:
    """Return the times of requests and completions on the timeline."""
    timeline = load_timeline(LocalFileSystem(), str(root))
    if not timeline.instants:
        timeline = load_first_layout(LocalFileSystem(), str(root))
    return sorted({*timeline.instants, *timeline.completed.values()})


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_base_files_are_those_that_hudi_rs_lists(archive: Path, tmp_path: Path) -> None:
    root = extracted(archive, tmp_path)
    paths = [Path(status.path) for status in base_files(LocalFileSystem(), str(root))]
    below = (path.relative_to(root) for path in paths)
    listed = {f"{path.parent.as_posix().removeprefix('.')}/{path.name}" for path in below}
    assert listed == {name for name in slices_by_hudi(root) if not name.endswith("/")}


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_the_index_of_records_has_the_file_group_of_every_key(
    archive: Path, tmp_path: Path
) -> None:
    """Of one row, if several have the key; and no other key."""
    root = extracted(archive, tmp_path)
    if not (root / ".hoodie/metadata/record_index").is_dir():
        pytest.skip("no index of records")
    assert located(root)


#: Columns with the key, the partition and the file of a row.
LOCATION = ["_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]


def located(root: Path) -> set[str]:
    """Return the keys of a table, after comparing its index with the rows of a snapshot query."""
    rows = pa.concat_tables(read(LocalFileSystem(), str(root), columns=LOCATION)).to_pylist()
    present = {(row[LOCATION[0]], row[LOCATION[1]], row[LOCATION[2]].split("_")[0]) for row in rows}
    keys = {key for key, _, _ in present}
    with MetadataTable(LocalFileSystem(), str(root)) as table:
        found = table.lookup([*keys, *(f"TXN-{number:03}" for number in range(100)), "", "x"])
        assert found.keys() == keys
        assert {(key, *item[:2]) for key, item in found.items()} <= present
        instants = set(table.data_timeline.instants)
        assert {item.instant for item in found.values()} <= instants
    return keys


def index_entries(root: Path) -> Iterator[tuple[Path, bytes | None, list[tuple[bytes, bytes]]]]:
    """Yield the files of an index, with the schema and the entries of each HFile in them."""
    fs = LocalFileSystem()
    for path in sorted((root / ".hoodie/metadata/record_index").iterdir()):
        if parse_name(path.name) is None:
            continue
        status = fs.get_file_status(str(path))
        with open_stream(fs, status) as stream:
            if path.suffix == ".hfile":
                reader = HFileReader(FileRegion(stream, status.path, status.length))
                yield path, reader.info.get(b"schema"), list(reader.scan())
                continue
            log = read_log(stream, status.path, status.length)
            for block in log.blocks:
                if block.type == HFILE:
                    schema, entries = records_of(log, block)
                    yield path, schema, list(entries)


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_locations_are_encoded_to_the_bytes_that_hudi_wrote(archive: Path, tmp_path: Path) -> None:
    """In files with the same order of keys, in the same file groups.

    In base files Hudi's records have the name of the file, too.
    """
    root = extracted(archive, tmp_path)
    if not (root / ".hoodie/metadata/record_index").is_dir():
        pytest.skip("no index of records")
    names = group_names(10)
    count = 0
    for path, schema, entries in index_entries(root):
        assert [key for key, _ in entries] == sorted(key for key, _ in entries)
        decode = decoder(schema)
        for key, value in entries:
            found = decode(key, value)
            assert isinstance(found, LocationRecord)
            encoded = encode_record(found, typed=True)
            name = path.name.encode() if path.suffix == ".hfile" else b""
            field = bytes([2, 2 * len(name)]) + name if name else b"\0"
            assert value == encoded[:4] + field + encoded[5:]
            assert group_of(found.key, names) in path.name
            count += 1
    assert count


def unique_keys(root: Path) -> Callable[[Any], int]:
    """Return a function that counts the rows whose keys occur only once in a table."""
    count = Counter(
        key
        for rows in read(LocalFileSystem(), str(root), columns=LOCATION[:1])
        for key in rows[LOCATION[0]].to_pylist()
    )
    return lambda rows: sum(count[key] == 1 for key in rows[LOCATION[0]].to_pylist())


def put_rows(root: Path, partition: str, name: str, rows: Any) -> dict[str, int]:
    """Write rows as a base file; return its size by name."""
    position = rows.column_names.index("_hoodie_file_name")
    renamed = rows.set_column(position, "_hoodie_file_name", pa.array([name] * rows.num_rows))
    pq.write_table(renamed, root / partition / name)
    return {name: (root / partition / name).stat().st_size}


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_commits_keep_the_index_of_records_right(archive: Path, tmp_path: Path) -> None:
    """A commit that deletes, updates, inserts and moves rows; also compacted, and built anew."""
    root = extracted(archive, tmp_path)
    if not (root / ".hoodie/metadata/record_index").is_dir():
        pytest.skip("no index of records")
    before = located(root)
    table = max(read(LocalFileSystem(), str(root)), key=unique_keys(root))
    partition, file = (table[name][0].as_py() for name in LOCATION[1:])
    first = table[LOCATION[0]][0].as_py()
    inserted = table.slice(0, 1).set_column(
        table.column_names.index(LOCATION[0]), LOCATION[0], pa.array(["new"])
    )
    writer = MetadataWriter(LocalFileSystem(durable=False), str(root))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names the removed partitions
        instant = writer.begin()
        kept = f"{file.split('_')[0]}_0-0-1_{instant.time}.parquet"
        moved = f"{UUID(int=1)}-0_0-0-1_{instant.time}.parquet"
        added = {
            **put_rows(root, partition, kept, table.slice(2)),
            **put_rows(root, partition, moved, pa.concat_tables([table.slice(1, 1), inserted])),
        }
        writer.finish(instant, Change({partition: added}))
    for follow in (writer.compact, lambda: writer.create_partition("record_index"), writer.compact):
        assert located(root) == before - {first} | {"new"}
        follow()
    assert located(root) == before - {first} | {"new"}


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_incremental_queries_have_the_rows_that_hudi_rs_reads(
    archive: Path, tmp_path: Path
) -> None:
    """Between neighbouring and distant instants, and from the first one to each."""
    import hudi

    root = extracted(archive, tmp_path)
    table = hudi.HudiTableBuilder.from_base_uri(str(root)).build()
    kind = hudi.HudiReadOptions().with_query_type(hudi.HudiQueryType.Incremental)
    instants = instants_of(root)
    pairs = {("0" * 17, end) for end in instants[1:]} | set(
        zip(instants, instants[3:], strict=False)
    )
    for begin, end in sorted(pairs):
        batches = table.read(kind.with_start_timestamp(begin).with_end_timestamp(end))
        if batches:
            rows = rows_here(root, batches[0].schema, begin=begin, end=end)
            assert rows == rows_read(batches), (begin, end)
        else:
            tables = read(LocalFileSystem(), str(root), begin=begin, end=end)
            assert sum(each.num_rows for each in tables) == 0


@needs_tables
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_snapshots_have_the_rows_that_hudi_rs_reads(archive: Path, tmp_path: Path) -> None:
    """Now, as of each instant, and read-optimised."""
    import hudi

    root = extracted(archive, tmp_path)
    table = hudi.HudiTableBuilder.from_base_uri(str(root)).build()
    optimised = {"hoodie.read.use.read_optimized.mode": "true"}
    queries: list[tuple[dict[str, Any], Any]] = [
        ({}, hudi.HudiReadOptions()),
        ({"mode": "read-optimised"}, hudi.HudiReadOptions(hudi_options=optimised)),
    ]
    for instant in instants_of(root):
        queries.append(({"as_of": instant}, hudi.HudiReadOptions().with_as_of_timestamp(instant)))
    for options, theirs in queries:
        batches = table.read(theirs)
        if batches:
            assert rows_here(root, batches[0].schema, **options) == rows_read(batches), options
        else:
            tables = read(LocalFileSystem(), str(root), **options)
            assert sum(each.num_rows for each in tables) == 0
