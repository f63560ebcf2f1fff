"""Ways of listing the files of a local dataset: all, one partition, or an id range."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.listing.dataset import PLAIN, TABLE, Shape
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.table import MetadataTable

#: Answers each supported query with a number of files.
Way = dict[str, Callable[[], int]]


def by_directories(root: Path, shape: Shape) -> dict[str, Way]:
    """List with the operating system; ranges are read from the footers of all files."""
    table, day = root / "table", root / "table" / f"day={shape.day}"

    def walked(top: Path) -> int:
        hidden = {".hoodie", "_delta_log"}
        count = 0
        for _, folders, names in os.walk(top):
            folders[:] = [folder for folder in folders if folder not in hidden]
            count += len(names)
        return count

    def sized(top: Path) -> int:
        with os.scandir(top) as entries:
            sizes = [entry.stat().st_size for entry in entries if entry.name.endswith(".parquet")]
        return len(sizes)

    def every() -> int:
        with os.scandir(table) as entries:
            days = [entry.path for entry in entries if entry.name.startswith("day=")]
        return sum(sized(Path(entry)) for entry in days)

    def footers() -> int:
        import pyarrow.parquet as pq

        count = 0
        for path in table.glob("day=*/*.parquet"):
            known = pq.read_metadata(path).row_group(0).column(0).statistics
            count += known.max >= shape.ids.start and known.min < shape.ids.stop
        return count

    return {
        "os.walk, names alone": {"all": lambda: walked(table), "one": lambda: walked(day)},
        "os.scandir with sizes": {"all": every, "one": lambda: sized(day), "range": footers},
    }


def ours(root: Path, shape: Shape) -> dict[str, Way]:
    """List with the metadata table, opened each time or once; and with listings."""
    fs = LocalFileSystem(str(root), durable=False)
    day = f"day={shape.day}"
    kept = MetadataTable(fs, TABLE)
    listing = FileListing(fs, PLAIN, enabled=False)

    def opened(question: Callable[[MetadataTable], int]) -> int:
        with MetadataTable(fs, TABLE) as table:
            return question(table)

    def listed(table: MetadataTable) -> int:
        return sum(len(statuses) for _, statuses in table.list_all())

    return {
        "fscontract, metadata table": {
            "all": lambda: opened(listed),
            "one": lambda: opened(lambda table: len(table.list_files(day))),
            "range": lambda: opened(lambda table: len(table.prune(shape.filters))),
        },
        "fscontract, metadata table kept open": {
            "all": lambda: listed(kept),
            "one": lambda: len(kept.list_files(day)),
            "range": lambda: len(kept.prune(shape.filters)),
        },
        "fscontract, listing": {
            "all": lambda: sum(map(len, listing.list_all().values())),
            "one": lambda: len(listing.list_files(day)),
        },
    }


def delta(uri: str, shape: Shape) -> dict[str, Way]:
    """List with delta-rs."""
    from deltalake import DeltaTable

    chosen = [("day", "=", shape.day)]

    def way(open_table: Callable[[], Any]) -> Way:
        return {
            "all": lambda: int(open_table().get_add_actions().num_rows),
            "one": lambda: len(open_table().file_uris(chosen)),
            "range": lambda: _within(open_table().get_add_actions(flatten=True), shape),
        }

    kept = DeltaTable(uri)
    return {
        "delta-rs, checkpoint": way(lambda: DeltaTable(uri)),
        "delta-rs, table kept open": way(lambda: kept),
    }


def _within(actions: Any, shape: Shape) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table(actions)
    high = pc.greater_equal(table["max.id"], shape.ids.start)
    low = pc.less(table["min.id"], shape.ids.stop)
    return int(table.filter(pc.and_(high, low)).num_rows)


def iceberg(location: str, shape: Shape) -> dict[str, Way]:
    """List with pyiceberg."""
    from pyiceberg.table import StaticTable

    def planned(condition: str = "true") -> int:
        table = StaticTable.from_metadata(location)
        scan = table.scan() if condition == "true" else table.scan(row_filter=condition)
        return sum(1 for _ in scan.plan_files())

    return {
        "pyiceberg, plan_files": {
            "all": planned,
            "one": lambda: planned(f"day = '{shape.day}'"),
            "range": lambda: planned(f"id >= {shape.ids.start} and id < {shape.ids.stop}"),
        }
    }


def hudi(root: Path, shape: Shape) -> dict[str, Way]:
    """List with hudi-rs, from the metadata table and by listing; ranges are read from footers."""
    import hudi as rust

    ids = [("id", ">=", str(shape.ids.start)), ("id", "<", str(shape.ids.stop))]

    def way(path: str) -> Way:
        def asked(filters: list[tuple[str, str, str]]) -> int:
            table = rust.HudiTableBuilder.from_base_uri(f"{root}{path}").build()
            options = rust.HudiReadOptions().with_filters(filters) if filters else None
            slices = table.get_file_slices(options) if options else table.get_file_slices()
            return len(slices)

        return {
            "all": lambda: asked([]),
            "one": lambda: asked([("day", "=", shape.day)]),
            "range": lambda: asked(ids),
        }

    return {"hudi-rs, our metadata table": way(TABLE), "hudi-rs, listing": way(PLAIN)}


def spark(session: Any, root: Path, shape: Shape) -> dict[str, Way]:
    """List with Spark's file index, created each time; it ignores ranges before reading."""

    table = root / "table"

    def indexed(path: Path) -> int:
        return len(session.read.option("basePath", str(table)).parquet(str(path)).inputFiles())

    return {
        "Spark, index of files": {
            "all": lambda: indexed(table),
            "one": lambda: indexed(table / f"day={shape.day}"),
        }
    }
