"""The same dataset as a Delta and an Iceberg table, written without reading its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.listing.dataset import ROWS, Shape

Sizes = dict[str, dict[str, int]]


def make_delta(root: Path, shape: Shape, sizes: Sizes) -> str:
    """Create a Delta table with a checkpoint; return its URI."""
    from deltalake import DeltaTable

    table = root / "table"
    log = table / "_delta_log"
    log.mkdir()
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("id", "long"), ("day", "string"))
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    lines: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": "0e1a4a4e-0000-4000-8000-000000000000",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": ["day"],
                "configuration": {},
                "createdTime": 0,
            }
        },
    ]
    lines += [{"add": _added(*file, sizes)} for file in shape.files_of_days()]
    text = "\n".join(json.dumps(line) for line in lines)
    (log / f"{0:020}.json").write_text(text, encoding="utf-8")
    DeltaTable(table).create_checkpoint()
    return str(table)


def _added(day: str, name: str, number: int, sizes: Sizes) -> dict[str, Any]:
    low = number * ROWS
    known = {
        "numRecords": ROWS,
        "minValues": {"id": low},
        "maxValues": {"id": low + ROWS - 1},
        "nullCount": {"id": 0},
    }
    return {
        "path": f"{day}/{name}",
        "partitionValues": {"day": day.removeprefix("day=")},
        "size": sizes[day][name],
        "modificationTime": 0,
        "dataChange": True,
        "stats": json.dumps(known),
    }


def make_iceberg(root: Path, shape: Shape, sizes: Sizes) -> str:
    """Create an Iceberg table with one snapshot; return the location of its metadata."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.conversions import to_bytes
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.typedef import Record
    from pyiceberg.types import LongType, NestedField, StringType

    folder = root / "iceberg"
    folder.mkdir()
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    fields = [NestedField(1, "id", LongType()), NestedField(2, "day", StringType())]
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
    table = catalog.create_table("n.trips", Schema(*fields), partition_spec=spec)
    with table.transaction() as change, change.update_snapshot().fast_append() as append:
        for day, name, number in shape.files_of_days():
            low = number * ROWS
            append.append_data_file(
                DataFile.from_args(
                    content=DataFileContent.DATA,
                    file_path=f"file://{root}/table/{day}/{name}",
                    file_format=FileFormat.PARQUET,
                    partition=Record(day.removeprefix("day=")),
                    record_count=ROWS,
                    file_size_in_bytes=sizes[day][name],
                    value_counts={1: ROWS},
                    null_value_counts={1: 0},
                    lower_bounds={1: to_bytes(LongType(), low)},
                    upper_bounds={1: to_bytes(LongType(), low + ROWS - 1)},
                    spec_id=table.spec().spec_id,
                )
            )
    return str(catalog.load_table("n.trips").metadata_location)
