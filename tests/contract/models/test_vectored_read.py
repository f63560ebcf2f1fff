"""Rules of readVectored: which ranges are refused, and what their futures give."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.vectored_read import overlapping
from fscontract.contract.program.outcome import Kind, Outcome, returned
from tests.contract.models.observed import (
    DATA,
    Observed,
    call,
    charged,
    judgement,
    permits,
    positions,
)

END = Outcome(Kind.EOF)


def vectored(*ranges: Any, gives: Any = None, raises: Kind | None = None) -> Observed:
    """Return a vectored read of ranges, with the outcomes of their futures."""
    return call("read_vectored", ranges, "heap", "absent", gives=gives, raises=raises)


def data(offset: int, length: int) -> Outcome:
    """Return the outcome of a future that gave bytes of the file."""
    return returned(length, DATA[offset : offset + length])


def test_read_of_no_ranges_returns_none() -> None:
    assert permits(vectored(gives=()))


def test_each_future_gives_the_bytes_of_its_range() -> None:
    assert permits(vectored((3, 2), (0, 2), gives=(data(3, 2), data(0, 2))))


def test_vectored_read_keeps_the_position() -> None:
    assert positions(call("seek", 2), vectored((0, 2), gives=(data(0, 2),))) == [2]


def test_bytes_of_another_offset_violate_read_vectored_data() -> None:
    wrong = vectored((0, 2), gives=(data(1, 2),))
    assert charged(wrong) == ("read-vectored.data", "")


def test_fewer_bytes_than_the_range_violate_remaining() -> None:
    short = vectored((0, 3), gives=(data(0, 2),))
    assert charged(short) == ("read-vectored.remaining", "")


def test_overlapping_ranges_are_an_illegal_argument() -> None:
    assert permits(vectored((0, 3), (1, 3), raises=Kind.ILLEGAL_ARGUMENT))
    accepted = vectored((0, 3), (1, 3), gives=())
    assert charged(accepted) == ("read-vectored.overlap", "")


@pytest.mark.parametrize("ranges", [((0, 1), (0, 0)), ((0, 4), (2, 0))])
def test_an_empty_range_inside_another_may_count_as_an_overlap(
    ranges: tuple[tuple[int, int], ...],
) -> None:
    (start, size), (empty, _) = ranges
    assert permits(vectored(*ranges, gives=(data(start, size), data(empty, 0))))
    assert permits(vectored(*ranges, raises=Kind.ILLEGAL_ARGUMENT))


@pytest.mark.parametrize("ranges", [((0, 1), (1, 0)), ((2, 0), (2, 0)), ((0, 1), (2, 0))])
def test_an_empty_range_outside_the_others_is_no_overlap(
    ranges: tuple[tuple[int, int], ...],
) -> None:
    assert not permits(vectored(*ranges, raises=Kind.ILLEGAL_ARGUMENT))


def test_overlapping_ranges_are_read_if_the_stream_declares_it() -> None:
    read = vectored((0, 3), (1, 3), gives=(data(0, 3), data(1, 3)))
    features = ("vector-io-overlapping-ranges",)
    assert "read-vectored.overlap-allowed" in judgement(read, features=features).exercised


def test_range_beyond_the_end_may_be_refused_at_once() -> None:
    assert permits(vectored((4, 2), raises=Kind.EOF))


def test_future_of_a_range_beyond_the_end_raises_eof_exception() -> None:
    late = ("!vector-io-early-eof-check",)
    assert permits(vectored((4, 2), gives=(END,)), features=late)
    short = vectored((4, 2), gives=(data(4, 1),))
    assert charged(short, features=late) == ("read-vectored.eof-late", "")


def test_range_beside_one_beyond_the_end_is_still_read() -> None:
    late = ("!vector-io-early-eof-check",)
    failed = vectored((0, 2), (4, 2), gives=(END, END))
    assert charged(failed, features=late) == ("read-vectored.good-ranges", "open.state")


def test_early_check_refuses_a_range_beyond_the_end() -> None:
    early = ("vector-io-early-eof-check",)
    assert permits(vectored((4, 2), raises=Kind.EOF), features=early)
    late = vectored((4, 2), gives=(END,))
    assert charged(late, features=early) == ("read-vectored.eof-early", "")


def test_empty_range_beyond_the_end_may_be_read_or_refused() -> None:
    early = ("vector-io-early-eof-check",)
    assert permits(vectored((9, 0), gives=(returned(0, b""),)), features=early)
    assert permits(vectored((9, 0), raises=Kind.EOF), features=early)


def test_empty_range_beyond_the_end_may_be_an_illegal_argument() -> None:
    assert permits(vectored((9, 0), raises=Kind.ILLEGAL_ARGUMENT))
    assert not permits(vectored((5, 0), raises=Kind.ILLEGAL_ARGUMENT))


def test_empty_range_at_the_end_may_be_refused() -> None:
    assert permits(vectored((5, 0), gives=(data(5, 0),)))
    assert permits(vectored((5, 0), raises=Kind.EOF))
    assert not permits(vectored((4, 0), raises=Kind.EOF))
    assert not permits(vectored((0, 5), raises=Kind.EOF))


def test_empty_range_inside_the_file_returns_nothing() -> None:
    read = vectored((2, 0), gives=(returned(0, b""),))
    assert "read-vectored.zero-length" in judgement(read).exercised
    failed = vectored((2, 0), gives=(END,))
    assert charged(failed) == ("read-vectored.zero-length", "")


def test_range_up_to_the_end_exercises_exact_end() -> None:
    read = vectored((3, 2), gives=(data(3, 2),))
    assert "read-vectored.exact-end" in judgement(read).exercised


def test_a_range_behind_every_possible_file_may_be_refused_at_once() -> None:
    """Its end does not fit 64 bits, whatever the length of the file."""
    late = ("!vector-io-early-eof-check",)
    assert permits(vectored((2**63 - 1, 2), raises=Kind.EOF), features=late)
    assert not permits(vectored((2**33, 2), raises=Kind.EOF), features=late)


def test_the_future_of_a_range_behind_every_possible_file_may_give_any_io_error() -> None:
    late = ("!vector-io-early-eof-check",)
    refused = (Outcome(Kind.IO),)
    assert permits(vectored((2**63 - 2, 2), gives=refused), features=late)
    assert not permits(vectored((2**33, 2), gives=refused), features=late)


def test_other_number_of_futures_violates_data() -> None:
    missing = vectored((0, 2), (3, 2), gives=(data(0, 2),))
    assert charged(missing) == ("read-vectored.data", "")


@pytest.mark.parametrize(
    ("ranges", "kind", "clause"),
    [
        ((), Kind.IO, "read-vectored.empty"),
        (((0, 2),), Kind.IO, "read-vectored.data"),
        (((0, 2), (3, 1)), Kind.ILLEGAL_ARGUMENT, "read-vectored.overlap"),
        (((4, 2),), Kind.EOF, "read-vectored.eof-late"),
        (((4, 2),), Kind.IO, "read-vectored.eof-late"),
        (((4, 2), (4, 3), (1, 0)), Kind.IO, "read-vectored.eof-late"),
        (((4, 2), (0, 2)), Kind.IO, "read-vectored.good-ranges"),
    ],
)
def test_refused_ranges_that_are_valid_violate_the_clause_that_permits_them(
    ranges: tuple[Any, ...], kind: Kind, clause: str
) -> None:
    refused = vectored(*ranges, raises=kind)
    features = ("!vector-io-early-eof-check", "vector-io-overlapping-ranges")
    without = features[:1] if kind is Kind.ILLEGAL_ARGUMENT else features
    assert charged(refused, features=without) == (clause, "open.state")


@pytest.mark.parametrize(
    ("allocate", "release", "clause"),
    [
        ("null", "absent", "read-vectored.null-allocate"),
        ("heap", "null", "read-vectored.null-release"),
    ],
)
def test_null_function_is_refused_unless_there_are_no_ranges(
    allocate: str, release: str, clause: str
) -> None:
    read = ((0, 2),), allocate, release
    assert permits(call("read_vectored", *read, raises=Kind.NULL))
    assert charged(call("read_vectored", *read, gives=(data(0, 2),))) == (clause, "")
    assert permits(call("read_vectored", (), allocate, release, gives=()))


@pytest.mark.parametrize(
    ("ranges", "kind", "clause"),
    [
        (((-1, 2),), Kind.EOF, "read-vectored.negative-offset"),
        (((0, -1),), Kind.ILLEGAL_ARGUMENT, "read-vectored.negative-length"),
        ((None,), Kind.NULL, "read-vectored.null-range"),
    ],
)
def test_bad_range_is_refused(ranges: tuple[Any, ...], kind: Kind, clause: str) -> None:
    assert permits(vectored(*ranges, raises=kind))
    assert charged(vectored(*ranges, raises=Kind.OTHER)) == (clause, "")


@pytest.mark.parametrize(
    ("ranges", "shared"),
    [
        (((0, 2), (2, 2)), False),
        (((0, 3), (2, 2)), True),
        (((0, 3), (1, 0)), False),
        (((0, 3), (1, 0), (2, 2)), True),
        ((), False),
    ],
)
def test_ranges_overlap_if_they_share_a_byte(
    ranges: tuple[tuple[int, int], ...], shared: bool
) -> None:
    assert overlapping(ranges) is shared


def test_a_refused_list_with_an_empty_range_is_charged_to_the_empty_range() -> None:
    """The ranges do not overlap, so that is not why the stream refuses them."""
    read = vectored((0, 2), (5, 0), raises=Kind.ILLEGAL_ARGUMENT)
    assert charged(read)[0] == "read-vectored.zero-length"
