"""The model of a block reader: which records a block delivers, and what is wrong with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from fscontract.contract.models.blockreader import (
    BOM,
    CLAUSES,
    NO_BLOCK,
    NONE_LOST,
    NONE_TWICE,
    OFFSET,
    ORDER,
    OWNER,
    WHOLE,
    Delivered,
    Layout,
    Record,
    expected_of,
    judge,
    lines_of,
    split_blocks,
)

#: Lines of 2, 4 and 3 bytes, the last one without an end.
DATA = b"a\nbcd\nefg"
LAYOUT = Layout(DATA)
BLOCKS = split_blocks(len(DATA), 4)
FIRST, SECOND, THIRD = Delivered(1, 0, b"a"), Delivered(1, 2, b"bcd"), Delivered(2, 6, b"efg")


def records(layout: Layout, size: int = 4) -> list[list[bytes]]:
    """Return the records that each block delivers."""
    blocks = split_blocks(len(layout.data), size, layout.data_offset)
    return [[record.record for record in expected_of(layout, block)] for block in blocks]


def clause(*delivered: Delivered) -> str:
    """Return the clause that the delivered records violate, or ""."""
    violation = judge(LAYOUT, BLOCKS, delivered)
    return "" if violation is None else violation.clause


class TestBlocks:
    def test_blocks_are_cut_on_a_grid_and_linked(self) -> None:
        assert [(b.offset, b.end, b.previous) for b in BLOCKS] == [
            (0, 4, NO_BLOCK),
            (4, 8, 1),
            (8, 9, 2),
        ]

    def test_first_block_begins_at_the_data_offset(self) -> None:
        assert [(b.offset, b.end) for b in split_blocks(9, 4, data_offset=5)] == [(5, 8), (8, 9)]

    def test_empty_file_has_no_blocks(self) -> None:
        assert split_blocks(0, 4) == []


class TestLines:
    def test_line_ends_at_any_newline(self) -> None:
        lines = [record.record for record in lines_of(Layout(b"a\r\nb\rc\n\nd"))]
        assert lines == [b"a", b"b", b"c", b"", b"d"]

    def test_line_ends_at_the_delimiter(self) -> None:
        assert lines_of(Layout(b"a||b", delimiter=b"||")) == [
            Record(0, b"a", 3),
            Record(3, b"b", 4),
        ]

    def test_byte_order_mark_belongs_to_the_first_line_and_is_not_delivered(self) -> None:
        assert lines_of(Layout(BOM + b"a\n")) == [Record(0, b"a", 5)]


class TestExpectedRecords:
    def test_reading_ahead_delivers_a_line_from_the_block_before_it_begins(self) -> None:
        assert records(LAYOUT) == [[b"a", b"bcd"], [b"efg"], []]

    def test_line_context_delivers_the_rest_of_a_line_at_the_start_of_a_block(self) -> None:
        assert records(Layout(DATA, "line")) == [[b"a", b"bcd"], [b"d", b"efg"], [b"g"]]

    def test_fixed_records_end_with_their_block(self) -> None:
        assert records(Layout(DATA, "fixed", length=3)) == [
            [DATA[:3], b"c"],
            [b"d\ne", b"f"],
            [b"g"],
        ]

    def test_record_of_fixed_width_is_delivered_by_the_block_in_which_it_begins(self) -> None:
        assert records(Layout(DATA, "fixed-width", length=3)) == [
            [DATA[:3], DATA[3:6]],
            [DATA[6:]],
            [],
        ]

    def test_blank_lines_are_dropped_if_the_reader_does(self) -> None:
        assert records(Layout(b"a\n\nb", drop_blank=True), 9) == [[b"a", b"b"]]

    @pytest.mark.parametrize(("skips", "lines"), [(False, [b"a", b"bc", b"ef"]), (True, [b"a"])])
    def test_long_records_are_cut_or_left_out(self, skips: bool, lines: Sequence[bytes]) -> None:
        assert records(Layout(DATA, limit=2, skips=skips), 9) == [lines]


class TestJudge:
    def test_records_of_the_file_in_order_are_right(self) -> None:
        exercised: Counter[str] = Counter()
        assert judge(LAYOUT, BLOCKS, [FIRST, SECOND, THIRD], exercised) is None
        assert set(exercised) == set(CLAUSES)

    def test_missing_record_violates_none_lost(self) -> None:
        assert clause(FIRST, THIRD) == NONE_LOST

    def test_record_delivered_twice_violates_none_twice(self) -> None:
        assert clause(FIRST, FIRST, SECOND, THIRD) == NONE_TWICE

    def test_record_of_another_block_violates_owner(self) -> None:
        assert clause(FIRST, SECOND._replace(block_id=2), THIRD) == OWNER

    def test_part_of_a_record_violates_whole(self) -> None:
        assert clause(FIRST, SECOND._replace(record=b"bc")) == WHOLE

    def test_record_that_is_not_in_the_file_violates_whole(self) -> None:
        assert clause(FIRST, Delivered(1, 1, b"xyz")) == WHOLE

    def test_record_with_another_offset_violates_offset(self) -> None:
        assert clause(FIRST, SECOND._replace(offset=3)) == OFFSET

    def test_offsets_of_equal_lines_that_count_from_the_block_violate_offset(self) -> None:
        """The offset of the second line is that of the first one, whose content is the same."""
        layout, blocks = Layout(b"same\n" * 4), split_blocks(20, 5)
        own = [(b, r) for b in blocks for r in expected_of(layout, b)]
        delivered = [Delivered(b.block_id, r.offset - b.offset, r.record) for b, r in own]
        violation = judge(layout, blocks, delivered)
        assert violation is not None
        assert (violation.clause, violation.actual) == (OFFSET, "offset 5")

    def test_lost_record_is_shown_with_the_offsets_of_the_others(self) -> None:
        violation = judge(LAYOUT, BLOCKS, [FIRST, THIRD])
        assert violation is not None
        assert (violation.clause, violation.actual) == (
            NONE_LOST,
            "not delivered; 2 records at offsets [0, 6]",
        )

    def test_records_in_another_order_violate_order(self) -> None:
        assert clause(SECOND, FIRST, THIRD) == ORDER
