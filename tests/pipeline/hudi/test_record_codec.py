"""Tests of records: merging is associative, and encoding is lossless."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.pipeline.hudi.column_stats import column_prefix, file_key, partition_key
from fscontract.pipeline.hudi.record_codec import decoder, encode_record, sizes_decoder
from fscontract.pipeline.hudi.records import (
    ALL_PARTITIONS,
    GONE,
    ColumnStatistics,
    Deleted,
    FileEntry,
    FilesRecord,
    Record,
    merge,
    sizes_of,
    without_tombstones,
)
from fscontract.pipeline.hudi.schema import UNTYPED_JSON

INFOS = st.one_of(st.integers(0, 9).map(FileEntry), st.just(GONE))
FILES: st.SearchStrategy[Record] = st.builds(
    FilesRecord, st.just("p"), st.dictionaries(st.sampled_from("abc"), INFOS)
)


@st.composite
def statistics(draw: st.DrawFn) -> ColumnStatistics:
    """Draw statistics of numbers or text, of nulls, unknown ones, or deleted ones."""
    kind = draw(st.sampled_from(["IntWrapper", "LongWrapper", "nulls", "unknown", "gone"]))
    if kind == "gone":
        return ColumnStatistics("k", "f", "c", is_deleted=True)
    tight = draw(st.booleans())
    if kind == "unknown":
        return ColumnStatistics("k", "f", "c", is_tight=tight)
    nulls = draw(st.integers(1, 3))
    if kind == "nulls":
        return ColumnStatistics("k", "f", "c", value_count=nulls, null_count=nulls, is_tight=tight)
    low, high = sorted(draw(st.tuples(st.integers(0, 9), st.integers(0, 9))))
    return ColumnStatistics("k", "f", "c", kind, low, high, nulls + 2, nulls, is_tight=tight)


WHOLE: st.SearchStrategy[Record] = st.just(Deleted("p"))


@given(
    st.one_of(
        st.tuples(*[st.one_of(FILES, WHOLE)] * 3),
        st.tuples(*[st.one_of(statistics(), st.just(Deleted("k")))] * 3),
    )
)
def test_merging_is_associative(records: tuple[Record, Record, Record]) -> None:
    """So that logs may be merged before their base is known."""
    a, b, c = records
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@given(st.lists(FILES, min_size=1, max_size=6))
def test_the_files_are_those_that_the_changes_leave_in_turn(records: list[Record]) -> None:
    """Compared with a dictionary that applies each change."""
    live: dict[str, int] = {}
    for record in records:
        assert isinstance(record, FilesRecord)
        for name, info in record.files.items():
            if info.is_deleted:
                live.pop(name, None)
            else:
                live[name] = max(live.get(name, 0), info.size)
    left = without_tombstones(reduce(merge, records))
    found = left.files if isinstance(left, FilesRecord) else {}
    assert {name: info.size for name, info in found.items()} == live


def test_a_log_that_deletes_twice_still_deletes() -> None:
    gone = FilesRecord("p", {"f": GONE})
    base = FilesRecord("p", {"f": FileEntry(3), "g": FileEntry(4)})
    left = without_tombstones(merge(base, merge(gone, gone)))
    assert left == FilesRecord("p", {"g": FileEntry(4)})


def test_the_larger_of_two_sizes_counts() -> None:
    """Sizes are not added, and updates of a growing file may arrive late."""
    one, other = (FilesRecord("p", {"f": FileEntry(size)}) for size in (5, 3))
    assert merge(one, other) == FilesRecord("p", {"f": FileEntry(5)})


def test_partition_without_files_is_removed() -> None:
    assert without_tombstones(FilesRecord("p", {"f": GONE})) is None


@pytest.mark.parametrize(
    "record",
    [
        FilesRecord("p=1", {"f": FileEntry(3), "g": GONE}),
        FilesRecord(ALL_PARTITIONS, {"p=1": FileEntry(0)}),
        ColumnStatistics("k", "f", "c", "StringWrapper", "a", "b", 7, 1, 10, 20, is_tight=True),
        ColumnStatistics("k", "f", "c", "DoubleWrapper", 0.5, 1.5, 7),
        ColumnStatistics("k", "f", "c", value_count=7, null_count=7),
        ColumnStatistics("k", "f", "c", "BooleanWrapper", False, True, type=6),
        Deleted("k"),
    ],
)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    decode = decoder(UNTYPED_JSON.encode())
    assert decode(record.key.encode(), encode_record(record)) == record


def test_nan_is_not_a_bound() -> None:
    record = ColumnStatistics("k", "f", "c", "DoubleWrapper", 1.0, float("nan"), 3)
    decoded = decoder(None)(b"k", encode_record(record))
    assert isinstance(decoded, ColumnStatistics)
    assert (decoded.wrapper, decoded.minimum, decoded.maximum) == (None, None, None)


@pytest.mark.parametrize("cut", [1, 5])
def test_truncated_record_is_detected(cut: int) -> None:
    content = encode_record(FilesRecord("p", {"file": FileEntry(3)}))
    with pytest.raises(ValueError, match="the record of 'p'"):
        decoder(None)(b"p", content[:-cut])


def test_invalid_schema_is_detected() -> None:
    with pytest.raises(ValueError, match="can't read the Avro schema"):
        decoder(b'{"type": "record"')


def test_keys_of_statistics_are_those_that_hudi_writes() -> None:
    """Taken from a table that Hudi 1.0 wrote."""
    file = "8aa68f7e-afd6-4c94-b86c-8a886552e08d-0_1-986-2793_20251220210108078.parquet"
    key = file_key("driver", "city=sao_paulo", file)
    assert key == "AjpJ7N1gBZc=6Hj+sBy+gvM=mOzs6VPZhmOxK2t7KzRKtA=="
    assert key.startswith(partition_key("driver", "city=sao_paulo"))
    assert key.startswith(column_prefix("driver"))
    assert partition_key("_hoodie_record_key", "") == "uSJGdDiVr/k=FXThHwelITM="


NAMES = st.text(st.sampled_from("a\n\0é"), max_size=70)
RECORDS_OF_FILES = st.builds(
    FilesRecord,
    st.just("p"),
    st.dictionaries(NAMES, st.integers(0, 1 << 62).map(FileEntry), min_size=1, max_size=5),
)


@given(st.lists(RECORDS_OF_FILES, max_size=4))
def test_sizes_are_those_of_the_decoded_record(records: list[FilesRecord]) -> None:
    sizes = sizes_decoder(UNTYPED_JSON.encode())
    for record in records:
        assert sizes(encode_record(record)) in (sizes_of(record), None)


def test_sizes_of_files_are_decoded_whatever_the_lengths_of_their_names() -> None:
    sizes = sizes_decoder(None)
    for numbers in ([9, 10, 1 << 40], [8, 1 << 20, (1 << 27) - 1], [300, 7]):
        record = FilesRecord("p", {f"{n}_x.parquet": FileEntry(n) for n in numbers})
        assert sizes(encode_record(record)) == sizes_of(record)


@pytest.mark.parametrize(
    "record",
    [
        FilesRecord("p", {"f": FileEntry(3), "g": GONE}),
        FilesRecord("p", {"": FileEntry(3)}),
        FilesRecord("p", {}),
        ColumnStatistics("k", "f", "c", value_count=7, null_count=7),
        Deleted("k"),
    ],
)
def test_other_records_than_live_files_have_no_sizes(record: Record) -> None:
    assert not sizes_decoder(None)(encode_record(record))


@given(RECORDS_OF_FILES, st.data())
def test_sizes_of_a_damaged_record_are_those_of_the_decoder(
    record: FilesRecord, data: st.DataObject
) -> None:
    sizes = sizes_decoder(None)
    encoded = bytearray(encode_record(record))
    sizes(bytes(encoded))
    encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    damaged = encoded[: data.draw(st.sampled_from([-1, len(encoded)]))]
    known = sizes(bytes(damaged))
    if known is not None:
        decoded = decoder(None)(b"p", bytes(damaged))
        assert decoded is not None
        assert known == sizes_of(decoded)


def test_files_of_another_schema_have_no_sizes() -> None:
    record = FilesRecord("p", {"file": FileEntry(3)})
    assert sizes_decoder(b'{"type": "record"}')(encode_record(record)) is None
