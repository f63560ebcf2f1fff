"""Tests that records do not depend on blocks or buffers, for any content."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.models.blockreader import (
    BOM,
    Block,
    Delivered,
    Layout,
    judge,
    lines_of,
    split_blocks,
)
from fscontract.contract.pipeline_bindings import ReaderSettings
from fscontract.contract.scenarios.blockreader.harness import InstrumentedFiles
from fscontract.pipeline.blockreader.binding import ReaderBinding

#: Few different bytes, so that delimiters occur, are cut, and overlap.
ALPHABETS = (b"a\n", b"a\r\n", b"a|", b"|", b"a|-", b"ab", b"\xef\xbb\xbfa\n", bytes(range(256)))
DELIMITERS = (None, None, b"\n", b"\r\n", b"|", b"||", b"|||", b"|-|", b"abab", b"aab", b"\xbf")


@dataclass(frozen=True)
class Reading:
    """A file, and settings that must not affect the records."""

    layout: Layout
    size: int
    buffer: int
    overflow: int
    shorts: tuple[int, ...]
    order: str


def _data() -> st.SearchStrategy[bytes]:
    pieces = st.sampled_from(ALPHABETS).flatmap(
        lambda alphabet: st.lists(st.sampled_from(list(alphabet)), max_size=60).map(bytes)
    )
    return st.tuples(st.sampled_from((b"", b"", BOM)), pieces).map(b"".join) | st.binary(
        max_size=40
    )


def _readings(context: str) -> st.SearchStrategy[Reading]:
    delimiter = st.sampled_from(DELIMITERS) | st.binary(min_size=1, max_size=3)
    layouts = st.builds(
        Layout,
        _data(),
        st.just(context),
        delimiter,
        length=st.integers(1, 9),
        data_offset=st.sampled_from((0, 0, 1, 4, 7)),
        drop_blank=st.booleans(),
        limit=st.none() | st.integers(0, 8),
        skips=st.booleans(),
    )
    return st.builds(
        Reading,
        layouts,
        st.integers(1, 20),
        st.integers(1, 12),
        st.integers(1, 12),
        st.lists(st.integers(1, 9), max_size=4).map(tuple),
        st.sampled_from(("in order", "backwards", "strides")),
    )


def _blocks(reading: Reading) -> list[Block]:
    blocks = split_blocks(len(reading.layout.data), reading.size, reading.layout.data_offset)
    if reading.order == "backwards":
        return blocks[::-1]
    return blocks if reading.order == "in order" else blocks[::3] + blocks[1::3] + blocks[2::3]


def _seen(reading: Reading) -> list[Delivered]:
    layout = reading.layout
    files = InstrumentedFiles({"/file": layout.data})
    files.shorts = reading.shorts
    fixed = layout.context.startswith("fixed")
    settings = ReaderSettings(
        layout.context,
        layout.delimiter,
        layout.length if fixed else None,
        layout.limit,
        "skip" if layout.skips else "truncate",
        layout.drop_blank,
        layout.data_offset,
        reading.buffer,
        reading.overflow,
    )
    reader = ReaderBinding().reader(files, settings)
    records = [r for block in _blocks(reading) for r in reader.process(block)]
    found = [Delivered(r.block_id, r.offset, r.record) for r in records]
    reader.close()
    assert files.open_streams == 0
    return found


@settings(max_examples=250, deadline=None)
@given(_readings("read-ahead"))
def test_reading_ahead_gives_the_records_of_the_unsplit_file(reading: Reading) -> None:
    """Each from its own block, for blocks of any size and order."""
    assert judge(reading.layout, _blocks(reading), _seen(reading)) is None


@settings(max_examples=200, deadline=None)
@given(_readings("line"))
def test_without_reading_ahead_records_are_partial_or_whole_lines(reading: Reading) -> None:
    """At most one partial record at the start of a block; every line occurs once."""
    assert judge(reading.layout, _blocks(reading), _seen(reading)) is None


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(("fixed", "fixed-width")).flatmap(_readings))
def test_fixed_lengths_cover_the_file(reading: Reading) -> None:
    """Pieces of each block, or fixed-width records counted from the start of the data."""
    plain = Layout(
        reading.layout.data,
        reading.layout.context,
        length=reading.layout.length,
        data_offset=reading.layout.data_offset,
    )
    reading = Reading(plain, reading.size, 9, 9, reading.shorts, reading.order)
    seen = _seen(reading)
    assert judge(plain, _blocks(reading), seen) is None
    ordered = sorted(seen, key=lambda s: s.offset)
    assert b"".join(s.record for s in ordered) == plain.data[plain.data_offset :]


@settings(max_examples=80, deadline=None)
@given(_readings("read-ahead"), st.integers(1, 30))
def test_no_block_size_gives_other_records_than_another(reading: Reading, other: int) -> None:
    """Compares two runs, without a model."""
    again = Reading(reading.layout, other, 5, 2, (), "in order")
    first, second = ([(s.offset, s.record) for s in _seen(r)] for r in (reading, again))
    assert sorted(first) == second


def test_the_model_sees_the_unsplit_file() -> None:
    """Leftmost delimiters count, blank lines are records, and a BOM is not part of a record."""
    assert [f.record for f in lines_of(Layout(BOM + b"a\r\n\n\rb"))] == [b"a", b"", b"", b"b"]
    assert [f.record for f in lines_of(Layout(b"|||b", delimiter=b"||"))] == [b"", b"|b"]
    assert [f.offset for f in lines_of(Layout(BOM + b"a\nb"))] == [0, 5]
