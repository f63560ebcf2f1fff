"""The search for a serial order: the order in each thread counts, real time does not."""

from __future__ import annotations

from typing import Any

from fscontract.contract.models.serializability import Observed, Serial, find_serial_order
from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.outcome import Kind, Outcome, returned

FEATURES = frozenset({"supports-seek", "supports-positioned-readable", "supports-vectored-io"})
DATA = bytes(range(100, 120))


def call(op: str, *args: Any, gives: Outcome, ended: int = 0, judged: bool = True) -> Observed:
    """Return a call with its outcome."""
    return Observed(op, args, gives, ended, judged)


def byte(offset: int, ended: int = 0) -> Observed:
    """Return a read_byte that returned the byte at an offset."""
    return call("read_byte", gives=returned(DATA[offset]), ended=ended)


def search(*threads: list[Observed]) -> Serial:
    """Return the serial order of calls on DATA."""
    return find_serial_order(threads, opened(DATA), FEATURES)


def test_calls_of_one_thread_are_their_own_serial_order() -> None:
    assert search([byte(0), byte(1)]).order == (0, 0)


def test_serial_order_may_contradict_real_time() -> None:
    """The document asks for serializable, not for linearizable calls."""
    first = [byte(1, ended=1)]
    assert search(first, [byte(0, ended=2)]).order == (1, 0)


def test_serial_order_keeps_the_order_of_each_thread() -> None:
    found = search([byte(1, ended=1), byte(0, ended=2)])
    assert found.order is None
    assert [(u.thread, u.call) for u in found.unexplained] == [(0, 0)]


def test_search_backtracks_from_a_dead_end() -> None:
    seek = call("seek", 5, gives=returned(), ended=3)
    assert search([byte(0, ended=2), byte(5, ended=4)], [seek]).order == (0, 1, 0)
    assert search([byte(5, ended=2), byte(6, ended=4)], [seek]).order == (1, 0, 0)


def test_each_outcome_is_judged_by_its_type_too() -> None:
    """A count of one byte equals True, and is remembered apart from it."""
    counts = [call("skip", 1, gives=returned(count)) for count in (1, True)]
    assert [search([one]).order for one in counts] == [(0,), None]
    assert search([call("read_byte", gives=returned([DATA[0]]))]).order is None


def test_wrong_positioned_read_is_unexplained_in_any_order() -> None:
    wrong = call("pread", 3, 2, 0, 2, gives=returned(2, DATA[4:6]))
    found = search([byte(0)], [wrong])
    assert [(u.thread, u.call) for u in found.unexplained] == [(1, 0)]
    assert "the bytes from 3" in found.unexplained[0].expected[0]


def test_positioned_read_that_writes_outside_its_range_is_unexplained() -> None:
    stray = call("pread", 3, 4, 1, 2, gives=returned(2, b"\x01" + DATA[3:5] + b"x"))
    assert search([stray]).order is None


def test_unexplained_calls_are_sorted_by_their_end() -> None:
    late = call("pread", 3, 1, 0, 1, gives=returned(1, b"?"), ended=9)
    early = call("pread", 3, 1, 0, 1, gives=returned(1, b"!"), ended=4)
    assert [u.thread for u in search([late], [early]).unexplained] == [1, 0]


def test_unjudged_get_pos_may_return_anything_but_not_raise() -> None:
    """Finding F14: get_pos() during a positioned read returns any position."""
    anywhere = call("get_pos", gives=returned(17), judged=False)
    failing = call("get_pos", gives=Outcome(Kind.IO), judged=False)
    assert search([anywhere, byte(0)]).order == (0, 0)
    assert search([failing]).order is None


def test_judged_get_pos_returns_the_position_of_the_stream() -> None:
    assert search([call("get_pos", gives=returned(17))]).order is None


def test_vectored_read_leaves_the_position_open() -> None:
    ranges = call("read_vectored", ((4, 1),), "heap", "absent", gives=_parts(4), ended=1)
    assert search([ranges], [byte(9, ended=2), byte(10, ended=3)]).order is not None
    alien = call("read_byte", gives=returned(7), ended=2)
    assert search([ranges], [alien]).order is None


def test_refused_positioned_read_comes_after_the_close() -> None:
    refused = call("pread", 3, 1, 0, 1, gives=Outcome(Kind.IO), ended=1)
    closing = call("close", gives=returned(), ended=2)
    assert search([refused], [closing]).order == (1, 0)


def test_visited_states_are_not_searched_again() -> None:
    """Three threads of 12 calls would otherwise take exponential time."""
    seeks = [call("seek", 3, gives=returned(), ended=n) for n in range(12)]
    impossible = call("read_byte", gives=returned(7), ended=99)
    found = search(seeks, list(seeks), [*seeks, impossible])
    assert [(u.thread, u.call) for u in found.unexplained] == [(2, 12)]


def _parts(offset: int) -> Outcome:
    return returned((returned(1, DATA[offset : offset + 1]),))
