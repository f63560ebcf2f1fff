"""The search for a serial order: program order counts, real time does not."""

from __future__ import annotations

from typing import Any

from fscontract.contract.models.serializability import Observed, Serial, find_serial_order
from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.outcome import Kind, Outcome, returned

FEATURES = frozenset({"supports-seek", "supports-positioned-readable", "supports-vectored-io"})
DATA = bytes(range(100, 120))


def call(op: str, *args: Any, gives: Outcome, ended: int = 0, judged: bool = True) -> Observed:
    """A call and its outcome."""
    return Observed(op, args, gives, ended, judged)


def byte(offset: int, ended: int = 0) -> Observed:
    """A read_byte that returned the byte at an offset."""
    return call("read_byte", gives=returned(DATA[offset]), ended=ended)


def search(*threads: list[Observed]) -> Serial:
    """The serial order of calls on DATA."""
    return find_serial_order(threads, opened(DATA), FEATURES)


def test_one_thread_is_its_own_order() -> None:
    """A sequential program that is right is explained."""
    assert search([byte(0), byte(1)]).order == (0, 0)


def test_an_order_may_contradict_the_clock() -> None:
    """Calls that did not overlap may change places: the text asks for no more than serializable."""
    first = [byte(1, ended=1)]
    assert search(first, [byte(0, ended=2)]).order == (1, 0)


def test_an_order_keeps_that_of_each_thread() -> None:
    """The same bytes in the wrong order within a thread are not explained."""
    found = search([byte(1, ended=1), byte(0, ended=2)])
    assert found.order is None
    assert [(u.thread, u.call) for u in found.unexplained] == [(0, 0)]


def test_the_search_backs_up() -> None:
    """The order that suggests itself first may lead nowhere."""
    seek = call("seek", 5, gives=returned(), ended=3)
    assert search([byte(0, ended=2), byte(5, ended=4)], [seek]).order == (0, 1, 0)
    assert search([byte(5, ended=2), byte(6, ended=4)], [seek]).order == (1, 0, 0)


def test_a_wrong_positioned_read_is_named_with_what_was_permitted() -> None:
    """It depends on nothing, so no order helps."""
    wrong = call("pread", 3, 2, 0, 2, gives=returned(2, DATA[4:6]))
    found = search([byte(0)], [wrong])
    assert [(u.thread, u.call) for u in found.unexplained] == [(1, 0)]
    assert "the bytes from 3" in found.unexplained[0].expected[0]


def test_a_positioned_read_must_not_write_outside_its_part() -> None:
    """Right bytes do not excuse others beside them."""
    stray = call("pread", 3, 4, 1, 2, gives=returned(2, b"\x01" + DATA[3:5] + b"x"))
    assert search([stray]).order is None


def test_wrong_calls_are_listed_as_they_ended() -> None:
    """The first one is where things went wrong."""
    late = call("pread", 3, 1, 0, 1, gives=returned(1, b"?"), ended=9)
    early = call("pread", 3, 1, 0, 1, gives=returned(1, b"!"), ended=4)
    assert [u.thread for u in search([late], [early]).unexplained] == [1, 0]


def test_an_unjudged_position_may_be_anything_but_an_error() -> None:
    """get_pos() during a positioned read (F14) shows what it likes, and still returns."""
    anywhere = call("get_pos", gives=returned(17), judged=False)
    failing = call("get_pos", gives=Outcome(Kind.IO), judged=False)
    assert search([anywhere, byte(0)]).order == (0, 0)
    assert search([failing]).order is None


def test_a_judged_position_must_be_the_streams() -> None:
    """Nothing was there to move it."""
    assert search([call("get_pos", gives=returned(17))]).order is None


def test_after_a_vectored_read_the_position_is_open() -> None:
    """A reader may go on anywhere, but what it gets is the file's."""
    ranges = call("read_vectored", ((4, 1),), "heap", "absent", gives=_parts(4), ended=1)
    assert search([ranges], [byte(9, ended=2), byte(10, ended=3)]).order is not None
    alien = call("read_byte", gives=returned(7), ended=2)
    assert search([ranges], [alien]).order is None


def test_closing_puts_positioned_reads_in_order_too() -> None:
    """A positioned read that was refused comes after the close."""
    refused = call("pread", 3, 1, 0, 1, gives=Outcome(Kind.IO), ended=1)
    closing = call("close", gives=returned(), ended=2)
    assert search([refused], [closing]).order == (1, 0)


def test_a_long_failing_history_is_given_up_quickly() -> None:
    """Visited states are not searched again: 3 threads of 12 calls, and one impossible byte."""
    seeks = [call("seek", 3, gives=returned(), ended=n) for n in range(12)]
    impossible = call("read_byte", gives=returned(7), ended=99)
    found = search(seeks, list(seeks), [*seeks, impossible])
    assert [(u.thread, u.call) for u in found.unexplained] == [(2, 12)]


def _parts(offset: int) -> Outcome:
    return returned((returned(1, DATA[offset : offset + 1]),))
