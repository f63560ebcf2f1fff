"""Tests of column statistics from Parquet footers."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException, PathIOException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataWarning
from fscontract.pipeline.hudi.parquet_stats import LONGEST, MAX_COLUMNS, file_statistics
from fscontract.pipeline.hudi.pruning import Filter, Operator, may_match
from fscontract.pipeline.hudi.record_codec import decoder, encode_record
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import COMPARISONS, PATH, put

UTC = timezone.utc
NAN = float("nan")


def parquet(columns: Mapping[str, Any], group: int = 1000, **options: Any) -> bytes:
    """Return a Parquet file with row groups of `group` rows."""
    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file, row_group_size=group, **options)
    return file.getvalue()


def read(content: bytes, columns: list[str] | None = None) -> dict[str, ColumnStatistics]:
    """Return the statistics of a file, by column."""
    fs = MemoryFileSystem()
    put(fs, "/f.parquet", content)
    found = file_statistics(fs, fs.get_file_status("/f.parquet"), columns)
    return {each.column: each for each in found}


def column(values: Any, kind: pa.DataType | None = None, group: int = 1000) -> ColumnStatistics:
    """Return the statistics of a column, as a table's reader gets them."""
    known = read(parquet({"c": pa.array(values, kind)}, group))["c"]
    stored = decoder(None)(b"key", encode_record(known))
    assert isinstance(stored, ColumnStatistics)
    return stored


@pytest.mark.parametrize(
    ("kind", "values", "wrapper", "low", "high"),
    [
        (pa.int8(), [3, None, -1], "IntWrapper", -1, 3),
        (pa.uint32(), [2**32 - 1, 1], "LongWrapper", 1, 2**32 - 1),
        (pa.int64(), [-(2**63), 2**63 - 1], "LongWrapper", -(2**63), 2**63 - 1),
        (pa.uint64(), [1, 2], "LongWrapper", 1, 2),
        (pa.uint64(), [1, 2**63], None, None, None),
        (pa.float32(), [0.5, NAN, 1.5], "FloatWrapper", 0.5, 1.5),
        (pa.float64(), [NAN, NAN], None, None, None),
        (pa.bool_(), [True, False], "BooleanWrapper", False, True),
        (pa.string(), ["b", "\u00e9\U0001f600", "a"], "StringWrapper", "a", "\u00e9\U0001f600"),
        (pa.binary(), [b"\xff", b"a"], "BytesWrapper", b"a", b"\xff"),
        (pa.binary(2), [b"zz", b"ab"], "BytesWrapper", b"ab", b"zz"),
        (pa.date32(), [date(2020, 1, 1), date(1, 1, 1)], "DateWrapper", -719162, 18262),
        (pa.timestamp("ms", "UTC"), [-1, 2**50], "TimestampMicrosWrapper", -1000, 2**50 * 1000),
        (pa.timestamp("ns", "UTC"), [-1, 1001], "TimestampMicrosWrapper", -1, 2),
        (pa.timestamp("ms", "UTC"), [0, 2**62], None, None, None),
        (pa.timestamp("us"), [1, 2], None, None, None),
        (pa.time32("ms"), [1, 2], "TimeMicrosWrapper", time(0, 0, 0, 1000), time(0, 0, 0, 2000)),
        (pa.decimal128(7, 2), [Decimal("1.20")], "DecimalWrapper", Decimal("1.2"), Decimal("1.2")),
        (pa.decimal128(38, 2), [Decimal(10) ** 15], None, None, None),
        (pa.decimal128(38, 16), [Decimal("0.1")], None, None, None),
    ],
    ids=str,
)
def test_a_type_has_bounds_in_its_wrapper(
    kind: pa.DataType, values: list[Any], wrapper: str | None, low: Any, high: Any
) -> None:
    """None if the format can't represent a value, or its meaning is ambiguous."""
    known = column(values, kind)
    assert (known.wrapper, known.minimum, known.maximum) == (wrapper, low, high)
    assert known.value_count == len(values)
    assert known.null_count == values.count(None)


def test_row_groups_are_combined() -> None:
    """Row groups with only nulls have no bounds, and need none."""
    known = column([1, 2, None, None, 9, None], pa.int64(), group=2)
    assert (known.minimum, known.maximum, known.null_count) == (1, 9, 3)
    assert column([None, None], pa.int64()).all_null
    assert not column([], pa.int64()).all_null


def test_bounds_are_those_of_all_row_groups_or_none() -> None:
    """A row group without known values, such as one with only NaN, gives no bounds."""
    known = column([1.0, 2.0, NAN, NAN], pa.float64(), group=2)
    assert (known.wrapper, known.value_count) == (None, 4)
    bare = read(parquet({"c": [1, 2]}, write_statistics=False))["c"]
    assert (bare.minimum, bare.null_count, bare.value_count) == (None, None, 2)


def test_sizes_are_those_of_the_column() -> None:
    known = read(parquet({"c": [1] * 1000, "d": [2.5] * 1000}, compression="gzip"))
    assert 0 < (known["c"].total_size or 0) < 1000
    assert (known["d"].total_uncompressed_size or 0) > 0


def test_long_texts_are_cut_off() -> None:
    """Texts that begin with the largest one are not greater than its stored bound."""
    low, high = "a" * 300, "b" * 300
    known = column([low, high])
    assert known.minimum == "a" * LONGEST
    assert known.maximum == "b" * (LONGEST - 1) + "c"
    last = "\ud7ff"
    assert column([last * 300]).maximum == last * (LONGEST - 1) + "\ue000"
    assert column(["x" + "\U0010ffff" * 300]).maximum == "y"
    assert column(["\U0010ffff" * 300]).minimum is None
    assert column([b"x" + b"\xff" * 300]).maximum == b"y"
    assert column([b"\xff" * 300]).minimum is None


def test_structs_are_flat_and_lists_are_left_out() -> None:
    """As with Hudi, a field is named by its path; ambiguous names are skipped."""
    rows = {
        "s": [{"a": 1, "b": {"c": 2}}, None],
        "l": [[1], []],
        "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        "s.a": [5, 6],
        "x,y": [1, 2],
    }
    assert list(read(parquet(rows))) == ["s.b.c"]


def test_the_first_columns_are_taken_or_those_that_are_named() -> None:
    content = parquet({f"c{n}": [n] for n in range(40)})
    assert list(read(content)) == [f"c{n}" for n in range(MAX_COLUMNS)]
    assert list(read(content, ["c39", "c2", "other"])) == ["c2", "c39"]


def test_a_footer_takes_one_read_or_two() -> None:
    """Its length is known, so nothing else is requested."""
    for count, reads in ((3, 1), (1500, 2)):
        fs = Counting()
        put(fs, "/f.parquet", parquet({f"column{n}": [n] for n in range(count)}))
        found = file_statistics(fs, fs.get_file_status("/f.parquet"), [f"column{count - 1}"])
        assert (found[0].minimum, fs.reads()) == (count - 1, reads)


class Counting(MemoryFileSystem):
    """Counts positioned reads."""

    def reads(self) -> int:
        """Return their number."""
        return self.io_statistics().get("stream_read_operations", 0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:-8] + b"\xff\xff\xff\x7fPAR1",
        lambda content: content[:-8] + b"\x05\x00\x00\x00PAR1",
        lambda content: content[: -8 - content[-8]] + b"\xff" * content[-8] + content[-8:],
        lambda content: b"PAR1" * 5,
    ],
)
def test_invalid_parquet_file_is_damage(damage: Callable[[bytes], bytes]) -> None:
    """For any error of PyArrow."""
    with pytest.raises(CorruptFileException) as raised:
        read(damage(parquet({"c": [1, 2]})))
    assert "\n" not in str(raised.value)


# Never too few ------------------------------------------------------------------------------

_KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int32(), st.integers(-5, 5)),
    (pa.float64(), st.sampled_from([-1.5, -0.0, 0.0, 0.1, 2.0, NAN, math.inf])),
    (pa.float32(), st.sampled_from([-1.5, 0.5, 2.0, NAN])),
    (pa.string(), st.text("ab\u00e9\U0001f600", max_size=3).map(lambda text: text * 100)),
    (pa.binary(), st.binary(max_size=2).map(lambda data: data * 150)),
    (pa.bool_(), st.booleans()),
    (pa.date32(), st.dates(date(2020, 1, 1), date(2020, 1, 5))),
    (pa.decimal128(5, 2), st.decimals(-3, 3, places=2)),
    (
        pa.timestamp("ns", "UTC"),
        st.integers(-3, 3).map(lambda n: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(0, n)),
    ),
    (pa.time64("us"), st.times(time(1), time(1, 0, 0, 5))),
]


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(_KINDS), st.sampled_from(sorted(COMPARISONS)))
def test_no_file_with_a_matching_row_is_pruned(
    data: st.DataObject, kind: tuple[pa.DataType, st.SearchStrategy[Any]], operation: Operator
) -> None:
    """NaN is greater than any number, as in Spark."""
    arrow, values = kind
    rows = data.draw(st.lists(st.none() | values, min_size=1, max_size=6))
    value = data.draw(values)
    known = column(rows, arrow, group=2)

    def order(row: Any) -> Any:
        nan = isinstance(row, float) and math.isnan(row)
        return (nan, 0 if nan else row)

    compare = COMPARISONS[operation]
    wanted = any(row is not None and compare(order(row), order(value)) for row in rows)
    assert may_match(known, Filter("c", operation, value)) or not wanted
    assert may_match(known, Filter("c", "is null")) or None not in rows
    assert may_match(known, Filter("c", "is not null")) or rows.count(None) == len(rows)


# In a table ---------------------------------------------------------------------------------


def trips(fs: FileSystem, columns: list[str] | None) -> MetadataWriter:
    """Create a dataset of ten files with ten ids each, and its table."""
    for number in range(10):
        ids = range(10 * number, 10 * number + 10)
        rows = {"id": list(ids), "city": [f"c{number}"] * 10}
        put(fs, f"{PATH}/day={number % 2}/f{number}.parquet", parquet(rows))
    writer = MetadataWriter(fs, PATH)
    writer.initialize(columns=columns)
    return writer


def pruned(fs: FileSystem, *filters: Filter) -> list[str]:
    """Return the names of files that may have matching rows."""
    with MetadataTable(fs, PATH) as table:
        return sorted(each.path.rpartition("/")[2] for each in table.prune(filters))


@pytest.mark.parametrize("columns", [None, ["id"]])
def test_a_table_has_the_ranges_of_the_files_that_are_there(columns: list[str] | None) -> None:
    fs = MemoryFileSystem()
    trips(fs, columns)
    assert pruned(fs, Filter("id", ">", 85)) == ["f8.parquet", "f9.parquet"]
    found = pruned(fs, Filter("city", "=", "c3"))
    assert len(found) == (1 if columns is None else 10)


def test_a_commit_brings_the_ranges_of_its_files() -> None:
    """A missing column, and a file in another format, exclude nothing."""
    fs = MemoryFileSystem()
    writer = trips(fs, ["id"])
    new = {
        "new.parquet": parquet({"id": [5, 200]}),
        "other.parquet": parquet({"x": [1]}),
        "plain.orc": b"1",
    }
    for name, content in new.items():
        put(fs, f"{PATH}/day=2/{name}", content)
    writer.commit(Change({"day=2": {name: len(content) for name, content in new.items()}}))
    assert pruned(fs, Filter("id", "=", 200)) == ["new.parquet", "other.parquet", "plain.orc"]
    assert pruned(fs, Filter("id", ">", 300)) == ["other.parquet", "plain.orc"]
    assert writer.compact() is not None
    assert pruned(fs, Filter("id", ">", 300)) == ["other.parquet", "plain.orc"]


@pytest.mark.parametrize("content", [None, b"no Parquet file"])
def test_unreadable_file_is_kept_and_reported(content: bytes | None) -> None:
    """It is listed as committed."""
    fs = MemoryFileSystem()
    writer = trips(fs, ["id"])
    if content is not None:
        put(fs, f"{PATH}/day=2/bad.parquet", content)
    with pytest.warns(MetadataWarning, match=r"can't read statistics of 1 files: .*bad\.parquet"):
        writer.commit(Change({"day=2": {"bad.parquet": 15}}))
    assert pruned(fs, Filter("id", ">", 300)) == ["bad.parquet"]


def test_a_store_that_fails_fails_the_commit() -> None:
    """A retry succeeds, with the ranges."""

    class Failing(MemoryFileSystem):
        fails = False

        def open_file(self, path: str) -> Any:
            if self.fails and path.endswith("new.parquet"):
                raise PathIOException(path, "the store is away")
            return super().open_file(path)

    fs = Failing()
    writer = trips(fs, ["id"])
    content = parquet({"id": [5]})
    put(fs, f"{PATH}/day=2/new.parquet", content)
    instant = writer.begin()
    change = Change({"day=2": {"new.parquet": len(content)}})
    fs.fails = True
    with pytest.raises(PathIOException, match="away"):
        writer.finish(instant, change)
    assert len(pruned(fs)) == 10
    fs.fails = False
    writer.finish(instant, change)
    assert len(pruned(fs)) == 11
    assert pruned(fs, Filter("id", "=", 300)) == []


def test_a_table_that_catches_up_has_the_ranges() -> None:
    """Until then readers have no ranges, and keep the file."""
    fs = MemoryFileSystem()
    trips(fs, ["id"])
    content = parquet({"id": [500]})
    put(fs, f"{PATH}/day=2/new.parquet", content)
    behind = MetadataWriter(fs, PATH, design=1)
    behind.commit(Change({"day=2": {"new.parquet": len(content)}}))
    assert pruned(fs, Filter("id", ">", 600)) == ["new.parquet"]
    assert len(behind.sync()) == 1
    assert pruned(fs, Filter("id", ">", 600)) == []
    assert pruned(fs, Filter("id", "=", 500)) == ["new.parquet"]


def test_a_new_dataset_has_ranges_from_its_first_commit() -> None:
    fs = MemoryFileSystem()
    fs.mkdirs(PATH)
    writer = MetadataWriter(fs, PATH)
    writer.initialize(columns=["id"])
    content = parquet({"id": [1, 2]})
    put(fs, f"{PATH}/f.parquet", content)
    writer.commit(Change({"": {"f.parquet": len(content)}}))
    assert pruned(fs, Filter("id", "=", 3)) == []
    assert pruned(fs, Filter("id", "=", 2)) == ["f.parquet"]


@pytest.mark.parametrize("name", ["a,b", " a", ""])
def test_a_name_that_cannot_be_listed_is_rejected(name: str) -> None:
    fs = MemoryFileSystem()
    with pytest.raises(IllegalArgumentException, match="invalid column name"):
        MetadataWriter(fs, PATH).bootstrap(Change(), "trips", columns=[name])


def test_a_status_of_another_length_is_damage() -> None:
    fs = MemoryFileSystem()
    content = parquet({"c": [1]})
    put(fs, "/f.parquet", content)
    with pytest.raises(CorruptFileException):
        file_statistics(fs, FileStatus("/f.parquet", len(content) + 5))
