"""Tests of option `metadata`: files come from the metadata table, without losing rows."""

from __future__ import annotations

import math
import operator
import shutil
import warnings
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import datasource as api

from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.io import MetadataWarning
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from fscontract.pipeline.spark_source.errors import SourceException
from tests.pipeline.spark_source.parquet_support import PushingSource, index, put, read
from tests.pipeline.spark_source.support import write

NAN = float("nan")
ZONED = datetime(2026, 1, 1, tzinfo=timezone.utc)
#: Columns and their possible values, including special ones of each type.
VALUES: dict[str, tuple[Any, list[Any]]] = {
    "whole": (pa.int64(), [None, -1, 0, 1, 5, 1 << 60]),
    "short": (pa.int16(), [None, -7, 0, 7]),
    "real": (pa.float64(), [None, NAN, -0.0, 0.0, 1.5, math.inf]),
    "single": (pa.float32(), [None, NAN, 0.5, 2.5]),
    "text": (pa.string(), [None, "", "a", "ab", "b", "\ud7ff", "\ue000", "\U0010ffff", "z" * 300]),
    "raw": (pa.binary(), [None, b"", b"a", b"\xff\xff"]),
    "flag": (pa.bool_(), [None, True, False]),
    "day": (pa.date32(), [None, date(1969, 12, 31), date(2026, 1, 1)]),
    "at": (pa.timestamp("us", "UTC"), [None, ZONED, ZONED.replace(microsecond=1)]),
    "money": (pa.decimal128(9, 2), [None, Decimal("-1.50"), Decimal("2.25")]),
    "a.b": (pa.int64(), [None, 1, 2]),
}
COMPARING: dict[Any, Callable[[Any, Any], bool]] = {
    api.EqualTo: operator.eq,
    api.GreaterThan: operator.gt,
    api.GreaterThanOrEqual: operator.ge,
    api.LessThan: operator.lt,
    api.LessThanOrEqual: operator.le,
    api.StringStartsWith: str.startswith,
    api.StringEndsWith: str.endswith,
    api.StringContains: operator.contains,
}
OVER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)


def _ordered(value: Any) -> Any:
    """Return a value that sorts as in Spark: NaN equals NaN, and exceeds any number."""
    return (
        (math.isnan(value), 0.0 if math.isnan(value) else value + 0.0)
        if (isinstance(value, float))
        else value
    )


def meets(row: dict[str, Any], pushed: Any) -> bool | None:
    """Return the result of a Spark filter on a row; None for SQL's null, which counts as false."""
    if isinstance(pushed, api.Not):
        inner = meets(row, pushed.child)
        return None if inner is None else not inner
    value = row[pushed.attribute[0]]
    if isinstance(pushed, api.IsNull | api.IsNotNull):
        return (value is None) == isinstance(pushed, api.IsNull)
    if isinstance(pushed, api.EqualNullSafe):
        if value is None or pushed.value is None:
            return value is pushed.value
        return bool(_ordered(value) == _ordered(pushed.value))
    if value is None:
        return None
    if isinstance(pushed, api.In):
        if any(_ordered(value) == _ordered(each) for each in pushed.value if each is not None):
            return True
        return None if None in pushed.value else False
    return bool(COMPARING[type(pushed)](_ordered(value), _ordered(pushed.value)))


@st.composite
def filters(draw: st.DrawFn) -> Any:
    """Draw a filter as Spark pushes it."""
    column = draw(st.sampled_from(list(VALUES)))
    known = [value for value in VALUES[column][1] if value is not None]
    kinds: list[Any] = [
        *(api.EqualTo, api.EqualNullSafe, api.GreaterThan, api.GreaterThanOrEqual),
        *(api.LessThan, api.LessThanOrEqual, api.In, api.IsNull, api.IsNotNull),
    ]
    if column == "text":
        kinds += [api.StringStartsWith, api.StringEndsWith, api.StringContains]
    kind = draw(st.sampled_from(kinds))
    if kind in (api.IsNull, api.IsNotNull):
        found = kind((column,))
    elif kind is api.In:
        found = kind((column,), tuple(draw(st.lists(st.sampled_from([None, *known]), max_size=3))))
    elif kind is api.EqualNullSafe:
        found = kind((column,), draw(st.sampled_from([None, *known])))
    else:
        found = kind((column,), draw(st.sampled_from(known)))
    return api.Not(found) if draw(st.booleans()) else found


rows = st.fixed_dictionaries({name: st.sampled_from(v) for name, (_, v) in VALUES.items()})


def _table(found: list[dict[str, Any]]) -> Any:
    names = list(VALUES)
    return pa.table(
        {name: pa.array([row[name] for row in found], VALUES[name][0]) for name in names}
    )


def _shown(found: list[dict[str, Any]]) -> list[str]:
    plain = ({**row, "at": row["at"] and row["at"].astimezone(timezone.utc)} for row in found)
    return sorted(repr({name: row[name] for name in (*VALUES, "part")}) for row in plain)


@OVER
@given(
    files=st.lists(st.lists(rows, min_size=1, max_size=4), min_size=1, max_size=4),
    pushed=st.lists(filters(), min_size=1, max_size=3),
    group=st.integers(1, 4),
    metadata=st.booleans(),
)
def test_no_row_is_left_out_that_meets_all_filters(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[dict[str, Any]]],
    pushed: list[Any],
    group: int,
    metadata: bool,
) -> None:
    """And no row that violates an accepted filter is returned."""
    folder = tmp_path_factory.mktemp("in")
    tables = {f"part={n % 2}/{n}.parquet": _table(found) for n, found in enumerate(files)}
    path = put(folder, tables, row_group_size=group)
    index(path, list(VALUES))
    found = read(path, pushed, metadata=metadata)
    every = [{**row, "part": n % 2} for n, each in enumerate(files) for row in each]
    assert all(any(each is one for one in pushed) for each in found.left)
    meeting = [row for row in every if all(meets(row, each) for each in pushed)]
    again = [row for row in found.rows if all(meets(row, each) for each in found.left)]
    assert _shown(again) == _shown(meeting)
    shutil.rmtree(folder)


def _days(folder: Path, days: int = 4, files: int = 3) -> str:
    """Create a dataset whose files have ten ids each, in order."""
    starts = {(day, n): 100 * day + 10 * n for day in range(days) for n in range(files)}
    return put(
        folder,
        {
            f"day={day}/{n}.parquet": {"id": range(start, start + 10)}
            for (day, n), start in starts.items()
        },
    )


def test_only_files_that_may_match_are_planned(tmp_path: Path) -> None:
    """By the directory, and by the ranges of columns."""
    path = index(_days(tmp_path))
    assert len(read(path, metadata=True).files) == 12
    found = read(path, [api.EqualTo(("day",), 2), api.GreaterThan(("id",), 215)], metadata=True)
    assert found.files == ["day=2/1.parquet", "day=2/2.parquet"]
    assert found.column("id") == [*range(216, 230)]
    assert found.left == []
    found = read(path, [api.In(("id",), (5, 305))], metadata=True)
    assert found.files == ["day=0/0.parquet", "day=3/0.parquet"]
    assert read(path, [api.EqualTo(("day",), 9)], metadata=True).rows == []


def test_the_files_are_those_of_the_table(tmp_path: Path) -> None:
    """Uncommitted files, and files deleted by a commit, are not read."""
    path = index(_days(tmp_path))
    put(tmp_path, {"day=1/new.parquet": {"id": [1000]}, "day=9/new.parquet": {"id": [1001]}})
    assert max(read(path, metadata=True).column("id")) == 329
    assert max(read(path).column("id")) == 1001
    size = (tmp_path / "day=9/new.parquet").stat().st_size
    writer = MetadataWriter(LocalFileSystem("/"), path)
    writer.commit(Change({"day=9": {"new.parquet": size}}, {"day=0": ["0.parquet"]}))
    found = read(path, metadata=True).column("id")
    assert (min(found), max(found), len(found)) == (10, 1001, 111)


@pytest.mark.parametrize("damage", ["absent", "torn", "statistics"])
def test_without_a_table_files_are_listed_with_one_warning(tmp_path: Path, damage: str) -> None:
    """The rows are the same; files of incomplete actions are skipped as with the table."""
    path = index(_days(tmp_path))
    wanted = read(path, [api.EqualTo(("id",), 105)], metadata=True)
    hoodie = tmp_path / ".hoodie"
    if damage == "absent":
        shutil.rmtree(hoodie)
    else:
        partition = "files" if damage == "torn" else "column_stats"
        (base,) = (hoodie / "metadata" / partition).glob("*.hfile")
        base.write_bytes(base.read_bytes()[:-10])
    source = PushingSource({"path": path, "reader": "parquet", "metadata": "true"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = source.schema()
    with pytest.warns(MetadataWarning, match="files are listed instead") as told:
        found = read(path, [api.EqualTo(("id",), 105)], schema, metadata=True)
    assert len(told) == 1
    assert found.rows == wanted.rows == [{"id": 105, "day": 1}]


def test_replaced_file_is_not_read_even_if_only_it_may_match(tmp_path: Path) -> None:
    """The newer one has replaced its rows: its ranges exclude both."""
    group = "0000000a-0000-4000-8000-000000000000-0"
    old, new = (f"{group}_0-1-0_2026010100000{n}000.parquet" for n in (0, 1))
    path = put(tmp_path, {f"d=1/{old}": {"id": [1]}, f"d=1/{new}": {"id": [2]}})
    index(path)
    assert read(path, metadata=True).column("id") == [2]
    assert read(path, [api.EqualTo(("id",), 1)], metadata=True).rows == []
    write(tmp_path, f"d=1/.{group}_20260101000001000.log.1_0-1-0", b"")
    shutil.rmtree(tmp_path / ".hoodie")
    index(path)
    with pytest.raises(SourceException, match="unsupported Hudi log file"):
        read(path, metadata=True)


def test_struct_field_is_not_a_column_with_the_same_name(tmp_path: Path) -> None:
    """Its statistics have the same name, but belong to another column."""
    from pyspark.sql import types as spark

    path = put(tmp_path, {"f.parquet": {"a": [{"b": 1}], "id": [1]}})
    index(path)
    schema = spark.StructType(
        [spark.StructField("a.b", spark.LongType()), spark.StructField("id", spark.LongType())]
    )
    for metadata in (True, False):
        found = read(path, [api.IsNull(("a.b",))], schema, metadata=metadata)
        assert found.rows == [{"a.b": None, "id": 1}]


@pytest.mark.parametrize(
    ("path", "said"),
    [("none", "input not found: '{folder}/none'"), ("f", "option 'metadata' requires a directory")],
)
def test_input_without_a_dataset_error_is_one_line(tmp_path: Path, path: str, said: str) -> None:
    """The error occurs on load, as without the option."""
    write(tmp_path, "f", b"x\n")
    for reader in ("lines", "parquet"):
        options = {"path": f"{tmp_path}/{path}", "metadata": "true", "reader": reader}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetadataWarning)
            with pytest.raises(SourceException) as error:
                PushingSource(options).schema()
        assert said.format(folder=tmp_path) in str(error.value)


def _lines(path: str, pushed: list[Any], **options: str) -> tuple[list[tuple[Any, ...]], list[Any]]:
    """Return rows of lines, and the planned files."""
    source = PushingSource({"path": path, **options})
    reader: Any = source.reader(source.schema())
    assert list(reader.pushFilters(pushed)) == []
    parts = reader.partitions()
    found = [tuple(r.values()) for p in parts for b in reader.read(p) for r in b.to_pylist()]
    runs = (run for part in parts for run in getattr(part, "runs", ()))
    return sorted(found), sorted(run.file.file_path for run in runs)


def test_lines_are_those_of_a_listing(tmp_path: Path) -> None:
    """With the same block numbers, whichever directories a filter selects."""
    for day in range(4):
        for name in ("a", "b", "_hidden"):
            write(tmp_path, f"day={day}/{name}", f"{day} {name}\n".encode() * 50)
    path, start = str(tmp_path), f"{tmp_path}/day=2/"
    filters: list[list[Any]] = [
        [],
        [api.StringStartsWith(("path",), start)],
        [api.EqualTo(("block_id",), 9)],
    ]
    listed = [_lines(path, pushed, blockSize="100") for pushed in filters]
    index(path)
    assert [_lines(path, pushed, blockSize="100", metadata="true") for pushed in filters] == listed
    assert [len(found) for found, _ in listed] == [400, 100, 24]


def test_filters_of_paths_look_up_only_their_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a block number is requested, which depends on all files."""
    from fscontract.pipeline.hudi.table import MetadataTable

    for day in range(4):
        write(tmp_path, f"day={day}/a", b"x\n")
    path = index(str(tmp_path))
    asked: list[Any] = []
    prune = MetadataTable.prune

    def watched(self: MetadataTable, filters: Any, partitions: Any = None) -> Any:
        asked.append(partitions)
        return prune(self, filters, partitions)

    monkeypatch.setattr(MetadataTable, "prune", watched)
    for pushed in (
        api.StringStartsWith(("path",), f"{path}/day=2"),
        api.EqualTo(("path",), f"{path}/day=2/a"),
        api.In(("path",), (f"{path}/day=2/a",)),
        api.StringContains(("path",), "=2"),
    ):
        rows, files = _lines(path, [pushed], metadata="true", columns="value")
        assert (rows, files) == ([("x",)], [f"{path}/day=2/a"])
    rows, _ = _lines(path, [api.EqualTo(("path",), f"{path}/day=2/a")], metadata="true")
    assert rows == [("x", f"{path}/day=2/a", 2, 0)]
    assert asked == [["day=2"], ["day=2"], ["day=2"], None, None]


def test_a_table_elsewhere_is_used(tmp_path: Path) -> None:
    """For datasets that can't be written to."""
    path = _days(tmp_path / "in", days=1)
    where = str(tmp_path / "table")
    MetadataWriter(LocalFileSystem("/"), path, directory=where).initialize(columns=["id"])
    found = read(path, [api.EqualTo(("id",), 15)], metadata=True, metadataDir=where)
    assert found.files == ["day=0/1.parquet"]
    assert not (tmp_path / "in/.hoodie").exists()
