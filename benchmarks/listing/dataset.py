"""A dataset of many small Parquet files, and its representation in table formats."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.commit_metadata import encode_commit
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant, TimelineWriter
from fscontract.pipeline.hudi.writer import MetadataWriter

#: Paths of the dataset below its root, and of a copy without a metadata table.
TABLE, PLAIN = "/table", "/plain"
ROWS = 10
#: Number of files with rows that match the range filter.
HITS = 6
_START = "20260101000000000"
_SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [{"name": "id", "type": "long"}, {"name": "day", "type": "string"}],
}
_PROPERTIES = {
    "hoodie.table.partition.fields": "day",
    "hoodie.table.keygenerator.type": "SIMPLE",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.create.schema": json.dumps(_SCHEMA),
}


@dataclass(frozen=True)
class Shape:
    """Number of partitions, and of files per partition; ids increase from file to file."""

    partitions: int
    files: int

    @property
    def count(self) -> int:
        """Total number of files."""
        return self.partitions * self.files

    @property
    def expected(self) -> dict[str, int]:
        """Expected number of files for each query."""
        return {"all": self.count, "one": self.files, "range": HITS}

    @property
    def day(self) -> str:
        """Partition of the query."""
        return f"{self.partitions // 2:05}"

    @property
    def ids(self) -> range:
        """Ids of the range query: those of some files in two partitions."""
        start = (self.partitions // 2 * self.files - HITS // 2) * ROWS
        return range(start, start + HITS * ROWS)

    @property
    def filters(self) -> list[Filter]:
        """Filters of the range query."""
        return [Filter("id", ">=", self.ids.start), Filter("id", "<", self.ids.stop)]

    def files_of_days(self) -> Iterator[tuple[str, str, int]]:
        """Yield partition, name and first id of every file."""
        for number in range(self.count):
            day = f"day={number // self.files:05}"
            yield day, f"{number:08x}-0000-4000-8000-000000000000-0_0-1-0_{_START}.parquet", number


def make_files(root: Path, shape: Shape) -> dict[str, dict[str, int]]:
    """Write every file, and a hard link as its copy; return the sizes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.int64())])
    sizes: dict[str, dict[str, int]] = {}
    for day, name, number in shape.files_of_days():
        if day not in sizes:
            (root / "table" / day).mkdir(parents=True)
            (root / "plain" / day).mkdir(parents=True)
        ids = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
        out = io.BytesIO()
        pq.write_table(pa.table([ids], schema), out, compression="none", use_dictionary=False)
        path = root / "table" / day / name
        path.write_bytes(out.getvalue())
        os.link(path, root / "plain" / day / name)
        sizes.setdefault(day, {})[name] = len(out.getvalue())
    return sizes


def make_tables(root: Path) -> None:
    """Create the metadata table from a listing and the footers; the copy gets no metadata table."""
    fs = LocalFileSystem(str(root), durable=False)
    for path in (PLAIN, TABLE):
        begin(fs, path)
    MetadataWriter(fs, TABLE).initialize("trips", _PROPERTIES, columns=["id"])
    writer = MetadataWriter(fs, PLAIN)
    writer.bootstrap(Change(), "trips", _PROPERTIES)
    writer.drop()


def begin(fs: FileSystem, path: str) -> None:
    """Create the commit that wrote all files of a dataset."""
    instants = TimelineWriter(fs, path)
    for state in ("requested", "inflight"):
        instants.put(Instant(_START, "commit", state))
    content = encode_commit([], "INSERT", {"schema": json.dumps(_SCHEMA)})
    instants.put(Instant(_START, "commit", COMPLETED, "20260101000001000"), content)


def change_of(shape: Shape, size: int, ranges: bool = True) -> Change:
    """Return the change of a commit of all files with `size` bytes each, without creating files.

    With `ranges`, it has statistics of the ids.
    """
    sizes: dict[str, dict[str, int]] = {}
    known = {}
    for day, name, number in shape.files_of_days():
        sizes.setdefault(day, {})[name] = size
        if ranges:
            low = number * ROWS
            known[day, name] = [
                ColumnStatistics("", name, "id", "LongWrapper", low, low + ROWS - 1, ROWS, 0)
            ]
    return Change(sizes, statistics=known)
