"""Small tables with rows for tests: base files, log files and instants, as Hudi writes them."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.io import write_file
from fscontract.pipeline.hudi.log import DELETE, INSTANT, SCHEMA, LogBlock, encode_log
from fscontract.pipeline.hudi.log_records import AVRO, PARQUET
from fscontract.pipeline.hudi.schema import DELETE_LIST, NAMESPACE
from fscontract.pipeline.hudi.snapshot import META_FIELDS, read
from fscontract.pipeline.hudi.table_location import write_properties
from fscontract.pipeline.hudi.timeline import COMPLETED, INFLIGHT, REQUESTED, Instant
from fscontract.pipeline.hudi.timeline_history import HISTORY

PATH = "/rows"
GROUP = "00000000-0000-4000-8000-000000000000-0"
#: Fields of the rows: key, ordering value, value, and a flag of deleted rows.
FIELDS = [
    {"name": "id", "type": ["null", "string"], "default": None},
    {"name": "ts", "type": ["null", "long"], "default": None},
    {"name": "value", "type": ["null", "string"], "default": None},
    {"name": "_hoodie_is_deleted", "type": ["null", "boolean"], "default": None},
]
META = [{"name": name, "type": ["null", "string"], "default": None} for name in META_FIELDS]
ROW = {"type": "record", "name": "row", "fields": FIELDS}
STORED = {"type": "record", "name": "row", "fields": [*META, *FIELDS]}
ARROW = pa.schema(
    [
        *((name, pa.string()) for name in META_FIELDS),
        ("id", pa.string()),
        ("ts", pa.int64()),
        ("value", pa.string()),
        ("_hoodie_is_deleted", pa.bool_()),
    ]
)
#: A row without meta fields: key, ordering value, and value; None as value deletes.
Row = tuple[str, int | None, str | None]


def time(number: int) -> str:
    """Return the instant of a number, in order."""
    return f"202601010000{number:02}000"


def stored(rows: Iterable[Row], instant: str) -> list[dict[str, Any]]:
    """Return rows as Hudi stores them."""
    return [
        {
            "_hoodie_commit_time": instant,
            "_hoodie_commit_seqno": f"{instant}_0_{number}",
            "_hoodie_record_key": key,
            "_hoodie_partition_path": "",
            "_hoodie_file_name": GROUP,
            "id": key,
            "ts": ts,
            "value": value,
            "_hoodie_is_deleted": value is None,
        }
        for number, (key, ts, value) in enumerate(rows)
    ]


def avro(datum: Any, schema: Any) -> bytes:
    """Return a value in Avro."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), datum)
    return out.getvalue()


def avro_block(instant: str, rows: Iterable[Row]) -> LogBlock:
    """Return a data block of Avro records."""
    records = [avro(row, STORED) for row in stored(rows, instant)]
    content = struct.pack(">ii", 3, len(records))
    content += b"".join(struct.pack(">i", len(record)) + record for record in records)
    return LogBlock(AVRO, {INSTANT: instant, SCHEMA: json.dumps(STORED)}, content)


def parquet(rows: Iterable[Row], instant: str) -> bytes:
    """Return a Parquet file of rows."""
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(stored(rows, instant), ARROW), out)
    return out.getvalue()


def parquet_block(instant: str, rows: Iterable[Row]) -> LogBlock:
    """Return a data block that is a Parquet file."""
    header = {INSTANT: instant, SCHEMA: json.dumps(STORED)}
    return LogBlock(PARQUET, header, parquet(rows, instant))


def delete_block(instant: str, keys: Mapping[str, int | None]) -> LogBlock:
    """Return a delete block of keys with ordering values; None counts whatever the rows have."""
    records = [
        {
            "recordKey": key,
            "partitionPath": "",
            "orderingVal": (f"{NAMESPACE}.IntWrapper", {"value": 0})
            if ts is None
            else (f"{NAMESPACE}.LongWrapper", {"value": ts}),
        }
        for key, ts in keys.items()
    ]
    content = avro({"deleteRecordList": records}, DELETE_LIST)
    header = {INSTANT: instant, SCHEMA: json.dumps(STORED)}
    return LogBlock(DELETE, header, struct.pack(">ii", 3, len(content)) + content)


class RowTable:
    """A table at `PATH` that a test writes file by file; instants complete half a second later."""

    def __init__(
        self,
        version: int = 9,
        fs: FileSystem | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.fs = fs or MemoryFileSystem()
        self.version = version
        own = {
            "hoodie.table.name": "rows",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.version": str(version),
            "hoodie.timeline.layout.version": "2" if version >= 8 else "1",
            "hoodie.table.keygenerator.type": "NON_PARTITION",
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.precombine.field": "ts",
            "hoodie.table.create.schema": json.dumps(ROW),
        }
        path = f"{PATH}/.hoodie/hoodie.properties"
        write_properties(self.fs, path, {**own, **(properties or {})})

    def complete(self, number: int, action: str = "deltacommit", content: bytes = b"{}") -> str:
        """Complete an instant, and return its time."""
        layout, instant = (2 if self.version >= 8 else 1), time(number)
        self.pending(number, action)
        done = Instant(instant, action, COMPLETED, instant[:-3] + "500", layout)
        write_file(self.fs, f"{PATH}/{done.path}", content)
        return instant

    def pending(self, number: int, action: str = "deltacommit") -> str:
        """Begin an instant, and return its time."""
        for state in (REQUESTED, INFLIGHT):
            instant = Instant(time(number), action, state, None, 2 if self.version >= 8 else 1)
            write_file(self.fs, f"{PATH}/{instant.path}", b"")
        return time(number)

    def base(self, instant: str, rows: Iterable[Row], group: str = GROUP) -> str:
        """Write a base file, and return its path."""
        path = f"{PATH}/{group}_0-1-0_{instant}.parquet"
        write_file(self.fs, path, parquet(rows, instant))
        return path

    def log(self, instant: str, *blocks: LogBlock, version: int = 1, group: str = GROUP) -> str:
        """Write a log file, and return its path."""
        path = f"{PATH}/.{group}_{instant}.log.{version}_0-1-0"
        write_file(self.fs, path, encode_log(blocks))
        return path

    def rows(self, **options: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a snapshot: key, ordering value and value."""
        columns: Sequence[str] = options.pop("columns", ("id", "ts", "value"))
        table = pa.concat_tables(read(self.fs, PATH, columns=columns, **options))
        return [tuple(row[name] for name in columns) for row in table.to_pylist()]

    def state(self, **options: Any) -> dict[str, str]:
        """Return the value of each key; a key must be in one row alone."""
        rows = self.rows(**options)
        state = {key: value for key, _, value in rows}
        assert len(state) == len(rows)
        return state


def archive(
    table: RowTable,
    times: Mapping[str, str],
    names: tuple[str, str] = ("instantTime", "completionTime"),
) -> None:
    """Write the history of a timeline: a Parquet file for each archived instant, and a manifest."""
    directory = f"{PATH}/{HISTORY}"
    files = []
    for number, pair in enumerate(times.items()):
        columns = {name: [text] for name, text in zip(names, pair, strict=True)}
        out = io.BytesIO()
        pq.write_table(pa.table({**columns, "action": ["commit"]}), out)
        files.append({"fileName": f"{number}_0.parquet", "fileLen": out.tell()})
        write_file(table.fs, f"{directory}/{number}_0.parquet", out.getvalue())
    write_file(table.fs, f"{directory}/manifest_2", json.dumps({"files": files}).encode())
    write_file(table.fs, f"{directory}/_version_", b"2")
