"""Ways of reading a file of lines: the same query, over values of the same type.

Three queries: the total length of lines as strings, in characters; the same as bytes; and the
number of lines. If a library has columns of both types, the query uses that column.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from benchmarks.pipeline.measure import MIB, Run
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.blockreader.readers import FSReadAheadLineReader, as_bytes, blocks_of

QUERIES = {
    "string": "string values, `sum(length(value))`",
    "binary": "binary values, `sum(octet_length(value))`",
    "count": "`count()`",
}
BLOCK = 64 * MIB
NAME = "fscontract"


def spark_ways(spark: Any, path: str, query: str) -> Mapping[str, Run]:
    """Return the ways of a session, the data source first."""
    from pyspark.sql import functions as f

    def ours(delimiter: str | None = "\n", **options: str) -> Any:
        reader = spark.read.format(NAME).options(blockSize=str(BLOCK), **options)
        return (reader if delimiter is None else reader.option("delimiter", delimiter)).load(path)

    def lengths(frame: Any, length: str) -> int:
        return int(frame.select(f.sum(f.expr(f"{length}(value)"))).first()[0])

    if query == "count":
        return {
            f"{NAME}, block_id": lambda: ours(columns="block_id").count(),
            f"{NAME}, no columns": lambda: ours(columns="").count(),
            f"{NAME}, value": lambda: ours(columns="value").count(),
            "spark.read.text": lambda: spark.read.text(path, lineSep="\n").count(),
            "sc.textFile": lambda: spark.sparkContext.textFile(path).count(),
        }
    length = "length" if query == "string" else "octet_length"
    value = {"columns": "value", "valueType": query}
    any_end = "any end of lines"
    return {
        NAME: lambda: lengths(ours(**value), length),
        "spark.read.text": lambda: lengths(_text(spark, path, query, "\n"), length),
        f"{NAME}, {any_end}": lambda: lengths(ours(None, **value), length),
        f"spark.read.text, {any_end}": lambda: lengths(_text(spark, path, query, None), length),
        "sc.textFile": lambda: _sum_of_rdd(spark, path, query == "string"),
    }


def _text(spark: Any, path: str, query: str, separator: str | None) -> Any:
    frame = spark.read.text(path, lineSep=separator)
    return frame if query == "string" else frame.selectExpr("cast(value as binary) as value")


def _sum_of_rdd(spark: Any, path: str, unicode: bool) -> int:
    lines = spark.sparkContext.textFile(path, use_unicode=unicode)
    return int(lines.map(len).sum())


def plain_ways(path: str, query: str) -> Mapping[str, Run]:
    """Return the ways of one process without Spark, on one core unless a library uses more."""
    ways: dict[str, Run] = {
        f"{NAME}, one process": lambda: _ours(path, query),
        "Python's open()": lambda: _python(path, query),
    }
    if find_spec("pyarrow"):
        ways["pyarrow.csv, all at once"] = lambda: _arrow(path, query)
        ways["pyarrow.csv, streaming"] = lambda: _arrow_stream(path, query)
    if find_spec("polars"):
        ways["polars.scan_csv"] = lambda: _polars(path, query)
    return ways


def _ours(path: str, query: str) -> int:
    fs = LocalFileSystem()
    total = 0
    with FSReadAheadLineReader(fs, as_bytes) as reader:
        for block in blocks_of(fs.get_file_status(path), BLOCK):
            for batch in reader.process_batches(block):
                if query == "count":
                    total += len(batch)
                elif query == "binary":
                    total += sum(map(len, batch.records))
                else:
                    total += sum(map(len, map(bytes.decode, batch.records)))
    return total


def _python(path: str, query: str) -> int:
    if query == "string":
        with open(path, encoding="utf-8", newline="\n") as text:
            return sum(len(line.rstrip("\n")) for line in text)
    with open(path, "rb") as file:
        if query == "count":
            return sum(1 for _ in file)
        return sum(len(line.rstrip(b"\n")) for line in file)


def _csv(query: str) -> dict[str, Any]:
    """Return options that make a line the only column, unchanged."""
    import pyarrow as pa
    from pyarrow import csv

    kind = pa.string() if query == "string" else pa.binary()
    return {
        "read_options": csv.ReadOptions(column_names=["value"]),
        "parse_options": csv.ParseOptions(
            delimiter="\1", quote_char=False, ignore_empty_lines=False
        ),
        "convert_options": csv.ConvertOptions(column_types={"value": kind}),
    }


def _measured(column: Any, query: str) -> int:
    import pyarrow.compute as pc

    if query == "count":
        return len(column)
    length = pc.utf8_length if query == "string" else pc.binary_length
    return int(pc.sum(length(column)).as_py() or 0)


def _arrow(path: str, query: str) -> int:
    from pyarrow import csv

    return _measured(csv.read_csv(path, **_csv(query))["value"], query)


def _arrow_stream(path: str, query: str) -> int:
    from pyarrow import csv

    with csv.open_csv(path, **_csv(query)) as reader:
        return sum(_measured(batch.column(0), query) for batch in reader)


def _polars(path: str, query: str) -> int:
    import polars as pl  # type: ignore[import-not-found]  # it is compared where it is installed

    frame = pl.scan_csv(
        path, has_header=False, separator="\1", quote_char=None, new_columns=["value"]
    )
    column = pl.col("value").str
    chosen = {
        "count": pl.len(),
        "string": column.len_chars().sum(),
        "binary": column.len_bytes().sum(),
    }[query]
    return int(frame.select(chosen).collect().item())
