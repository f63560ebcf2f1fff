"""Datasets with a metadata table for tests, and hudi-rs's view of them."""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.hfile.reader import HFileReader
from fscontract.pipeline.hudi.io import FileRegion, open_stream
from fscontract.pipeline.hudi.pruning import Operator
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import (
    COLUMNS,
    INFLIGHT,
    PARTITIONS,
    parse_properties,
    write_properties,
)
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant, TimelineWriter, group_of
from fscontract.pipeline.hudi.writer import Change, MetadataWriter

PATH = "/table"
#: Time of the first write.
START = "20260101000000000"
FILES = "/table/.hoodie/metadata/files"
PROPERTIES = "/table/.hoodie/hoodie.properties"
DEFINITIONS = "/table/.hoodie/.index_defs/index.json"
_SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": ["null", "long"]},
        {"name": "city", "type": ["null", "string"]},
    ],
}
#: Comparisons of the filter operators.
COMPARISONS: dict[Operator, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PROPERTIES = {
    "hoodie.table.partition.fields": "city",
    "hoodie.table.keygenerator.type": "SIMPLE",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.create.schema": json.dumps(_SCHEMA),
}


class Ticks:
    """A clock that advances by a second on each read."""

    def __init__(self, start: int = 0) -> None:
        self._count = itertools.count(start)

    def __call__(self) -> datetime:
        first = datetime(2026, 6, 1, tzinfo=timezone.utc)
        return first + timedelta(seconds=next(self._count))


def name(number: int, instant: str = START) -> str:
    """Return a data file name in Hudi's format, from which hudi-rs reads the instant."""
    return f"{number:08x}-0000-4000-8000-000000000000-0_0-1-0_{instant}.parquet"


def writer(fs: FileSystem) -> MetadataWriter:
    """Return a writer whose instants are seconds apart."""
    return MetadataWriter(fs, PATH, Ticks())


def dataset(
    fs: FileSystem, partitions: Iterable[str] = ("city=a", "city=b"), count: int = 3, **rest: Any
) -> MetadataWriter:
    """Create a dataset with a commit and a metadata table; return its writer."""
    sizes = {part: {name(n): 600 + n for n in range(count)} for part in partitions}
    return started(fs, PATH, sizes, **rest)


def started(
    fs: FileSystem,
    path: str,
    sizes: Mapping[str, Mapping[str, int]],
    statistics: Mapping[tuple[str, str], list[ColumnStatistics]] | None = None,
    **rest: Any,
) -> MetadataWriter:
    """Create a dataset at any path; return its writer."""
    instants = TimelineWriter(fs, path)
    instants.put(Instant(START, "commit", "requested"))
    instants.put(Instant(START, "commit", "inflight"))
    content = encode_commit([], "INSERT", {"schema": json.dumps(_SCHEMA)})
    instants.put(Instant(START, "commit", COMPLETED, "20260101000001000"), content)
    made = MetadataWriter(fs, path, Ticks())
    made.bootstrap(Change(sizes, statistics=statistics or {}), "trips", _PROPERTIES, **rest)
    return made


def ranges(file: str, low: int, text: str = "a") -> list[ColumnStatistics]:
    """Return statistics of a file: ten numbers from `low`, and one text."""
    return [
        ColumnStatistics("", file, "id", "LongWrapper", low, low + 9, 10, 0),
        ColumnStatistics("", file, "city", "StringWrapper", text, text, 10, 0),
    ]


def by_hudi(fs: FileSystem, version: str = "V2", groups: int = 1) -> MetadataWriter:
    """Create a dataset as Hudi 1.x leaves it: with further indexes and their definitions.

    Statistics of columns are in a number of file groups.
    """
    sizes = {part: {name(n): 600 + n for n in range(2)} for part in ("city=a", "city=b")}
    known = {
        (part, file): ranges(file, 100 * place + 10 * n, part[-1])
        for place, part in enumerate(sizes)
        for n, file in enumerate(sizes[part])
    }
    made = started(fs, PATH, sizes, statistics=known, partition_stats=True)
    properties = parse_properties(get(fs, PROPERTIES).decode())
    properties.pop(COLUMNS)
    properties[PARTITIONS] += ",bloom_filters"
    properties[INFLIGHT] = "secondary_index_city"
    properties["hoodie.table.index.defs.path"] = ".hoodie/.index_defs/index.json"
    properties["hoodie.table.version"] = "9" if version == "V2" else "8"
    properties["hoodie.kept"] = "as it was"
    write_properties(fs, PROPERTIES, properties, replace=True)
    definition = {"indexName": "column_stats", "sourceFields": ["id", "city"], "version": version}
    definitions = {"column_stats": definition, "bloom_filters": {"sourceFields": []}}
    put(fs, DEFINITIONS, json.dumps({"indexDefinitions": definitions}).encode())
    for partition in ("bloom_filters", "secondary_index_city"):
        put(
            fs,
            f"{PATH}/.hoodie/metadata/{partition}/{partition}-0000-0_0-0-0_{'0' * 17}.hfile",
            b"x",
        )
    if groups > 1:
        _spread(fs, made, groups)
    return made


def _spread(fs: FileSystem, made: MetadataWriter, groups: int) -> None:
    """Store the statistics of columns in several file groups."""
    directory = f"{PATH}/.hoodie/metadata/column_stats"
    with MetadataTable(fs, PATH) as table:
        (reader,) = table._readers("column_stats")
        records = list(reader.scan())
    fs.delete(directory, recursive=True)
    names = [f"col-stats-{number:04}-0" for number in range(groups)]
    for group in names:
        made._write_base(
            "column_stats", group, "0" * 17, [r for r in records if group_of(r.key, names) == group]
        )


def seen(fs: FileSystem) -> dict[str, dict[str, int]]:
    """Return the table's content: sizes by partition and name."""
    with MetadataTable(fs, PATH) as table:
        found = dict(table.list_all())
        assert table.list_many(table.list_partitions()) == found
    return {
        partition: {status.path.rpartition("/")[2]: status.length for status in statuses}
        for partition, statuses in found.items()
    }


def seen_by_hudi(root: str, path: str = PATH) -> dict[str, set[str]]:
    """Return hudi-rs's listing of the dataset: names by partition."""
    import hudi

    found: dict[str, set[str]] = {}
    for each in hudi.HudiTableBuilder.from_base_uri(root + path).build().get_file_slices():
        found.setdefault(each.partition_path, set()).add(each.base_file_name)
    return found


def names(sizes: Mapping[str, Mapping[str, int]]) -> dict[str, set[str]]:
    """Return names by partition."""
    return {partition: set(files) for partition, files in sizes.items() if files}


def put(fs: FileSystem, path: str, content: bytes) -> None:
    """Write a file."""
    with fs.create(path) as file:
        file.write(content)


def get(fs: FileSystem, path: str) -> bytes:
    """Read a file."""
    with fs.open(path) as stream, stream.as_file() as file:
        return file.read()


def hfile(
    content: bytes, tail: int = 64 * 1024, max_block_bytes: int = MAX_BLOCK_BYTES
) -> HFileReader:
    """Return a reader of an HFile in memory."""
    fs = MemoryFileSystem()
    put(fs, "/file.hfile", content)
    status = fs.get_file_status("/file.hfile")
    stream = open_stream(fs, status)
    return HFileReader(FileRegion(stream, status.path, status.length), tail, max_block_bytes)
