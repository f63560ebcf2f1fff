"""Datasets of Parquet files, read by the source without Spark."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as spark

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.writer import MetadataWriter
from fscontract.pipeline.spark_source.source import FsContractDataSource
from tests.pipeline.spark_source.support import write


class PushingSource(FsContractDataSource):
    """The source as `register` creates it."""

    pushdown = True


@dataclass
class Read:
    """Result of reading a dataset: rows, the planned files, and the returned filters."""

    rows: list[dict[str, Any]]
    files: list[str]
    left: list[Any]
    schema: str
    partitions: int

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, sorted; nulls first."""
        values = [row[name] for row in self.rows]
        return sorted(values, key=lambda value: (value is not None, value))


def parquet(table: Any, **options: Any) -> bytes:
    """Return a Parquet file of an Arrow table."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def put(folder: Path, tables: Mapping[str, Any], **options: Any) -> str:
    """Write tables, or columns of them, as files; return the directory."""
    for name, table in tables.items():
        made = table if isinstance(table, pa.Table) else pa.table(table)
        write(folder, name, parquet(made, **options))
    return str(folder)


def index(path: str, columns: Iterable[str] | None = None) -> str:
    """Create the metadata table of a directory; return the directory."""
    fs: FileSystem = LocalFileSystem("/")
    MetadataWriter(fs, path).initialize(columns=None if columns is None else list(columns))
    return path


def struct(**kinds: Any) -> Any:
    """Return a schema of these columns."""
    return spark.StructType([spark.StructField(name, kind) for name, kind in kinds.items()])


def read(path: Any, filters: Iterable[Any] = (), schema: Any = None, **options: Any) -> Read:
    """Read a pickled plan, as tasks do."""
    given = {name: str(value) for name, value in options.items()}
    source = PushingSource({"path": str(path), "reader": "parquet", **given})
    columns = source.schema() if schema is None else schema
    reader: Any = source.reader(columns)
    left = list(reader.pushFilters(list(filters)))
    sent = pickle.loads(pickle.dumps(reader))
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    rows = [row for part in parts for batch in sent.read(part) for row in batch.to_pylist()]
    runs = [run for part in parts for run in getattr(part, "runs", ())]
    start = len(str(path)) + 1
    files = sorted({run.file.file_path[start:] for run in runs})
    return Read(rows, files, left, columns.simpleString(), len(parts))
