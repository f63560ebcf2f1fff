"""Tests of columnar statistics in base files against their records."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi import column_stats, file_group, writer_base
from fscontract.pipeline.hudi.column_stats import (
    ColumnChunk,
    chunks,
    decimal_of,
    digits_of,
    file_key,
    pack,
    stored_type,
    unpack,
    with_type,
)
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataWarning
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.pruning import Filter, Operator, ruled_out
from fscontract.pipeline.hudi.record_codec import decoder, encode_record
from fscontract.pipeline.hudi.records import ColumnStatistics, ValueType, merge
from fscontract.pipeline.hudi.schema import TYPED_JSON, WRAPPERS
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import COMPARISONS, PATH, get, hfile, put, started

A, B = "city=a", "city=b"
STATISTICS = "/table/.hoodie/metadata/column_stats"
INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "BooleanWrapper": st.booleans(),
    "IntWrapper": INTS,
    "LongWrapper": LONGS,
    "FloatWrapper": st.floats(width=32),
    "DoubleWrapper": st.floats(),
    "BytesWrapper": st.binary(max_size=3),
    "StringWrapper": st.text(max_size=3),
    "DateWrapper": INTS,
    "DecimalWrapper": st.decimals(-(10**6), 10**6, places=3, allow_nan=False),
    "TimeMicrosWrapper": st.times(),
    "TimestampMicrosWrapper": LONGS,
    "LocalDateWrapper": INTS,
}
OPERATORS: list[Operator] = [*COMPARISONS, "is null", "is not null"]


@pytest.fixture(params=["by column", "by record"], autouse=True)
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Format of base files: with columnar statistics, or without, as other writers do."""
    if request.param == "by record":
        monkeypatch.setattr(writer_base, "can_pack", lambda: False)
    return str(request.param)


@st.composite
def statistics(draw: st.DrawFn) -> ColumnStatistics:
    """Draw possible statistics of a file."""
    wrapper = draw(st.sampled_from([None, *VALUES]))
    bounds = VALUES[wrapper] if wrapper is not None else st.none()
    counts = st.none() | st.integers(0, 3)
    file, partition = draw(st.sampled_from("xyz")), draw(st.sampled_from([A, B, ""]))
    low, high, deleted = draw(bounds | st.none()), draw(bounds | st.none()), draw(st.booleans())
    key = file_key("c", partition, file)
    return ColumnStatistics(
        key, file, "c", wrapper, low, high, draw(counts), draw(counts), is_deleted=deleted
    )


def test_every_type_of_bounds_can_be_packed() -> None:
    assert VALUES.keys() == WRAPPERS.keys()
    assert all(pack(ColumnChunk(each)) for each in [None, *WRAPPERS])


@given(st.lists(statistics(), min_size=1))
def test_packed_chunk_is_unpacked_unchanged(known: list[ColumnStatistics]) -> None:
    for chunk in chunks(known):
        assert unpack(pack(chunk)) == chunk


@given(st.lists(statistics(), min_size=1))
def test_every_file_has_a_row(known: list[ColumnStatistics]) -> None:
    """Also files without statistics; bounds are both known or both unknown."""
    found = list(chunks(known))
    assert sorted(file for chunk in found for file in chunk.files) == sorted(
        each.file_name for each in known
    )
    for chunk in found:
        bounds = zip(chunk.lows, chunk.highs, strict=True)
        assert {low is None or high is None for low, high in bounds} == {chunk.wrapper is None}


@given(statistics(), statistics(), st.sampled_from(OPERATORS), st.data())
def test_a_file_is_judged_alone_as_beside_others(
    one: ColumnStatistics, other: ColumnStatistics, operation: Operator, data: st.DataObject
) -> None:
    value = data.draw(st.one_of(*VALUES.values()))
    condition = Filter("c", operation, value)
    alone = [(ruled_out(c, condition)[0], c.files[0]) for e in (one, other) for c in chunks([e])]
    found = [zip(ruled_out(c, condition), c.files, strict=True) for c in chunks([one, other])]
    assert sorted(itertools.chain.from_iterable(found)) == sorted(alone)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"no stream",
        lambda data: data[:-20],
        lambda data: data.replace(b"LongWrapper", b"DateWrapper"),
        lambda data: data.replace(b"LongWrapper", b"Long_rapper"),
        lambda data: data.replace(b"partition", b"petitions"),
    ],
)
def test_invalid_chunk_is_rejected(damage: Callable[[bytes], bytes]) -> None:
    data = pack(ColumnChunk("LongWrapper", ["p"], ["f"], [1], [2], [3], [0]))
    with pytest.raises(ValueError, match=r"statistics by column|bounds of"):
        unpack(damage(data))


def ranged(file: str, low: Any, wrapper: str = "LongWrapper") -> ColumnStatistics:
    """Return statistics for ids from a value to nine more."""
    return ColumnStatistics("", file, "id", wrapper, low, low + type(low)(9), 10, 0)


def table(fs: MemoryFileSystem, count: int = 3) -> MetadataWriter:
    """Create two partitions; the ids of the first files are known."""
    known = {(A, name(n)): [ranged(name(n), 10 * n)] for n in range(count)}
    sizes = {partition: {name(n): n for n in range(count)} for partition in (A, B)}
    return started(fs, PATH, sizes, statistics=known)


def name(number: int) -> str:
    """Return a file name that does not look like Parquet."""
    return f"f{number}"


def kept(fs: MemoryFileSystem, operation: Operator, value: Any) -> set[str]:
    """Return the files of the first partition that may match."""
    with MetadataTable(fs, PATH) as found:
        statuses = found.prune([Filter("id", operation, value)], [A])
    return {each.path.rpartition("/")[2] for each in statuses}


def test_a_base_file_says_the_same_in_either_way(layout: str) -> None:
    fs = MemoryFileSystem()
    table(fs)
    blocks = list(hfile(get(fs, base(fs))).metas(column_stats.block_prefix("id"), unpack))
    assert len(blocks) == (layout == "by column")
    assert kept(fs, "=", 15) == {name(1)}
    assert kept(fs, "is null", None) == set()
    with MetadataTable(fs, PATH) as found:
        assert len(found.prune([Filter("id", "=", 15)])) == 1 + 3  # B has no statistics
        assert len(found.prune([Filter("other", "=", 15)])) == 6


def base(fs: MemoryFileSystem) -> str:
    """Return the path of the last base file of the statistics."""
    return max(s.path for s in fs.list_status(STATISTICS) if s.path.endswith(".hfile"))


def test_logs_override_the_base_file() -> None:
    """One file is replaced, with other ids; one loses its statistics; one is new."""
    fs = MemoryFileSystem()
    made = table(fs)
    known = {(A, each): [ranged(each, 70)] for each in (name(0), "new")}
    change = Change({A: {name(0): 1, name(1): 1, "new": 1}}, statistics=known)
    for compacted in (False, True):
        if compacted:
            made.compact()
        else:
            made.commit(change)
        assert kept(fs, "=", 75) == {name(0), name(1), "new"}
        assert kept(fs, "=", 5) == {name(1)}


def test_a_log_that_is_merged_with_the_base_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with those of other writers, whose bounds are not marked as tight."""
    fs = MemoryFileSystem()
    made = table(fs)

    def wide(change: Change, columns: object) -> list[ColumnStatistics]:
        key = file_key("id", A, name(0))
        return [ColumnStatistics(key, name(0), "id", "LongWrapper", 70, 79, 10, 0)]

    monkeypatch.setattr(MetadataWriter, "_statistics", staticmethod(wide))
    made.commit(Change({A: {"other": 1}}))
    assert kept(fs, "=", 75) == {name(0), "other"}
    assert kept(fs, "=", 5) == {name(0), "other"}
    assert kept(fs, "=", 85) == {"other"}


def test_types_may_differ_between_files() -> None:
    fs = MemoryFileSystem()
    known = {
        (A, name(0)): [ranged(name(0), 1)],
        (A, name(1)): [ranged(name(1), 2.5, "DoubleWrapper")],
    }
    started(fs, PATH, {A: {name(n): 1 for n in range(3)}}, statistics=known)
    assert kept(fs, "=", 3) == {name(0), name(1), name(2)}
    assert kept(fs, "<", 2) == {name(0), name(2)}
    assert kept(fs, "=", "text") == {name(0), name(1), name(2)}


def test_columns_are_kept_apart() -> None:
    """Decimals, times and texts of one file."""
    fs = MemoryFileSystem()
    of = {
        "d": ("DecimalWrapper", Decimal("1.5")),
        "t": ("TimeMicrosWrapper", time(5)),
        "s": ("StringWrapper", "ü"),
    }
    known = [ColumnStatistics("", name(0), c, w, v, v, 1, 0) for c, (w, v) in of.items()]
    started(fs, PATH, {A: {name(0): 1}}, statistics={(A, name(0)): known})
    right: dict[str, Any] = {column: value for column, (_, value) in of.items()}
    wrong = {"d": Decimal("1.6"), "t": time(6), "s": "x"}
    with MetadataTable(fs, PATH) as found:
        for column in of:
            assert len(found.prune([Filter(column, "=", right[column])])) == 1
            assert found.prune([Filter(column, "=", wrong[column])]) == []


@pytest.mark.parametrize(("one", "other"), [("a", "a:b"), ("a", "a:00000000"), ("1:a", "a")])
def test_a_name_may_begin_like_another(one: str, other: str) -> None:
    """Two columns, only one of which has the records."""
    fs = MemoryFileSystem()
    known = [
        ColumnStatistics("", "f", c, "LongWrapper", v, v, 1, 0) for c, v in ((one, 1), (other, 2))
    ]
    started(fs, PATH, {A: {"f": 1}}, statistics={(A, "f"): known})
    with MetadataTable(fs, PATH) as found:
        for column, value in ((one, 1), (other, 2)):
            assert len(found.prune([Filter(column, "=", value)])) == 1
            assert found.prune([Filter(column, "=", 3 - value)]) == []


def test_many_files_take_several_blocks(monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    monkeypatch.setattr(column_stats, "MAX_ROWS", 4)
    fs = MemoryFileSystem()
    table(fs, 10)
    blocks = list(hfile(get(fs, base(fs))).metas(column_stats.block_prefix("id"), unpack))
    assert len(blocks) == (3 if layout == "by column" else 0)
    for each in range(10):
        assert kept(fs, "=", 10 * each) == {name(each)}


def test_pruning_takes_two_reads_of_the_statistics() -> None:
    """The end of their base file, and the wanted blocks; and none for the next condition."""
    fs = MemoryFileSystem()
    table(fs)

    def reads(*filters: Filter) -> int:
        before = fs.io_statistics()["stream_read_operations"]
        found.prune(filters)
        return fs.io_statistics()["stream_read_operations"] - before

    with MetadataTable(fs, PATH) as found:
        found.prune(())
        listing = reads()
        assert reads(Filter("id", "=", 5)) == listing + 2
        assert reads(Filter("id", "=", 15)) == listing


def test_damaged_block_is_detected(layout: str) -> None:
    """The answer comes from a listing then, with a warning."""
    fs = MemoryFileSystem()
    table(fs)
    data = bytearray(get(fs, base(fs)))
    where = 40 if layout == "by record" else data.index(b"METABLKc") + 60
    data[where] ^= 0xFF
    put(fs, base(fs), bytes(data))
    with MetadataTable(fs, PATH) as found, pytest.raises(CorruptFileException):
        found.prune([Filter("id", "=", 5)])
    for n in range(3):
        put(fs, f"{PATH}/{A}/{name(n)}", b"")
    with FileListing(fs, PATH) as listing, pytest.warns(MetadataWarning):
        assert len(listing.prune([Filter("id", "=", 5)], [A])) == 3


def test_a_reader_without_pyarrow_takes_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    fs = MemoryFileSystem()
    table(fs)

    def refuse(data: bytes) -> Iterator[ColumnChunk]:
        raise AssertionError("nothing can unpack this")

    monkeypatch.setattr(file_group, "can_pack", lambda: False)
    monkeypatch.setattr(file_group, "unpack", refuse)
    assert kept(fs, "=", 15) == {name(1)}


MONEY = ValueType(10, "10,2")


def known(wrapper: str, low: object, high: object) -> ColumnStatistics:
    """Return statistics of a file."""
    return ColumnStatistics("k", "f", "c", wrapper, low, high, 9, 1)


TYPED_VALUES = [
    known("BooleanWrapper", False, True),
    known("IntWrapper", 1, 2),
    known("LongWrapper", 1, 2),
    known("FloatWrapper", 0.5, 1.5),
    known("DoubleWrapper", 0.5, 1.5),
    known("BytesWrapper", b"\x80", b"\xff"),
    known("StringWrapper", "a", "b"),
    known("DateWrapper", 19000, 19001),
    known("DecimalWrapper", Decimal("-1.25"), Decimal("700.5")),
    known("TimeMicrosWrapper", time(1, 2, 3, 4), time(5)),
    known("TimestampMicrosWrapper", 10**15, 10**15 + 1),
    ColumnStatistics("k", "f", "c", value_count=3, null_count=3),
]


@pytest.mark.parametrize("record", TYPED_VALUES, ids=lambda each: str(each.wrapper))
@pytest.mark.parametrize("schema", [TYPED_JSON, TYPED_JSON + " "], ids=["own", "foreign"])
def test_statistics_with_a_type_are_read_as_written(record: ColumnStatistics, schema: str) -> None:
    """By both decoders."""
    typed = with_type(record)
    decoded = decoder(schema.encode())(b"k", encode_record(typed, typed=True))
    assert decoded == typed
    assert isinstance(decoded, ColumnStatistics)
    assert (decoded.wrapper, decoded.minimum, decoded.maximum) == (
        record.wrapper,
        record.minimum,
        record.maximum,
    )


@pytest.mark.parametrize("digits", [b"\x00", b"\x7f", b"\x00\x80", b"\xff", b"\x01\x86\x9f"])
def test_digits_are_those_of_hudi(digits: bytes) -> None:
    """As few bytes as the sign allows."""
    assert digits_of(decimal_of(digits, MONEY), MONEY) == digits


def test_decimals_are_ordered_by_value() -> None:
    """Their digits as bytes are not: 0x3106 is less than 0x07a120."""
    low, high = decimal_of(b"1\x06", MONEY), decimal_of(b"\x07\xa1 ", MONEY)
    merged = merge(
        with_type(known("DecimalWrapper", low, low), MONEY),
        with_type(known("DecimalWrapper", high, high), MONEY),
    )
    assert isinstance(merged, ColumnStatistics)
    assert (merged.minimum, merged.maximum) == (Decimal("125.50"), Decimal("5000.00"))


def test_digits_beyond_the_first_version_have_no_order() -> None:
    large = ValueType(10, "38,20")
    one = replace(known("BytesWrapper", b"1\x06", b"1\x06"), value_type=large)
    merged = merge(one, one)
    assert isinstance(merged, ColumnStatistics)
    assert merged.minimum is None


def test_decimal_with_more_digits_than_its_type_is_damaged() -> None:
    with pytest.raises(ValueError, match="decimal too large: 9 bytes"):
        decimal_of(b"\x7f" * 9, MONEY)


def test_type_is_widened_for_more_places() -> None:
    """Bounds are never rounded."""
    record = with_type(known("DecimalWrapper", Decimal("0.125"), Decimal(1)), MONEY)
    assert record.value_type == stored_type(record) == ValueType(10, "30,15")


@pytest.mark.parametrize("info", [None, "", "10", "ten,two", "1_0,2", "99999,99999"])
def test_damaged_type_of_a_decimal_leaves_its_bytes(info: str | None) -> None:
    record = replace(known("BytesWrapper", b"\x01", b"\x02"), value_type=ValueType(10, info))
    assert decoder(TYPED_JSON.encode())(b"k", encode_record(record, typed=True)) == record
