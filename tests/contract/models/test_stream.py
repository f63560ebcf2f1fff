"""What the acceptor permits and rejects, operation by operation."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.stream_state import ANY
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from tests.contract.models.conftest import DATA, Follow, bytes_at, failed, read

CLOSE = ("close", (), returned())
LAX_SEEK = ("!rejects-seek-past-eof",)
STALE = bytes([FILL]) * 4


@pytest.mark.parametrize(
    ("calls", "features"),
    [
        ([("get_pos", (), returned(0))], ()),
        ([("read_byte", (), returned(DATA[0])), ("get_pos", (), returned(1))], ()),
        ([("read_into", (4, 0, 4), read(0, 1))], ()),
        ([("read_into", (4, 1, 2), read(0, 2, 4, 1)), ("read_byte", (), returned(DATA[2]))], ()),
        ([("read_into", (4, 0, 0), returned(0, STALE))], ()),
        ([("read_into", (0, 0, 0), returned(0, b""))], ()),
        ([("read_into", (None, 0, 4), failed(Kind.NULL))], ()),
        ([("read_into", (None, 0, 4), failed(Kind.ILLEGAL_ARGUMENT))], ()),
        ([("seek", (5,), returned()), ("read_byte", (), returned(-1))], ()),
        ([("seek", (-1,), failed(Kind.EOF)), ("get_pos", (), returned(3))], ()),
        ([("seek", (-1,), failed(Kind.IO))], ("!supports-strict-exceptions",)),
        ([("seek", (9,), returned()), ("read_byte", (), returned(-1))], LAX_SEEK),
        ([("seek", (9,), returned()), ("get_pos", (), returned(9))], LAX_SEEK),
        ([CLOSE, CLOSE, ("unbuffer", (), returned())], ()),
        ([CLOSE, ("get_pos", (), failed(Kind.IO))], ()),
        ([CLOSE, ("get_pos", (), returned(77))], ()),
        ([CLOSE, ("read_byte", (), failed(Kind.IO))], ()),
        ([("pread", (1, 4, 1, 2), read(1, 2, 4, 1)), ("get_pos", (), returned(0))], ()),
        ([("pread", (5, 4, 0, 1), returned(-1, STALE))], ()),
        ([("pread", (9, 4, 0, 0), returned(-1, STALE))], ()),
        ([("pread", (9, 4, 0, 0), failed(Kind.EOF))], ()),
        ([("read_fully", (3, 4, 0, 4), failed(Kind.EOF))], ()),
        ([("read_fully", (3, 4, -1, 4), failed(Kind.EOF))], ()),
        ([("read_fully", (9, 4, 0, 0), returned(None, STALE))], ()),
        ([("skip", (9,), returned(5)), ("get_pos", (), returned(5))], ()),
        ([("skip", (9,), returned(9)), ("get_pos", (), returned(9))], ()),
        ([("skip", (9,), returned(9)), ("read_byte", (), returned(-1))], ()),
        ([("py_seek", (9, 0), returned(9)), ("get_pos", (), returned(5))], ()),
        ([("available", (), returned(3))], ()),
        ([("seek_to_new_source", (0,), returned(False))], ()),
        ([("seek_to_new_source", (0,), failed(Kind.UNSUPPORTED))], ()),
        ([("has_capability", ("in:unbuffer",), returned(True))], ()),
        ([("read_buffer", (6, 1, 4), returned((3, 4, 4), bytes_at(0, 3, 6, 1)))], ()),
        ([("read_vectored", ((), "heap", "absent"), returned(()))], ()),
        ([("read_vectored", (((4, 2),), "heap", "absent"), failed(Kind.EOF))], ()),
    ],
)
def test_what_the_document_permits_is_accepted(
    follow: Follow, calls: list[Any], features: tuple[str, ...]
) -> None:
    assert follow(*calls, features=features).failure is None


@pytest.mark.parametrize(
    ("calls", "clause", "cause"),
    [
        ([("get_pos", (), returned(1))], "getpos.value", "open.state"),
        ([("get_pos", (), returned(True))], "getpos.value", ""),
        ([("read_byte", (), returned(DATA[1]))], "read-byte.value", "open.state"),
        ([("read_byte", (), returned(0))], "read-byte.value", ""),
        ([("read_byte", (), returned(-1))], "read-byte.value", "open.state"),
        (
            [("read_byte", (), returned(DATA[0])), ("read_byte", (), returned(DATA[0]))],
            "read-byte.value",
            "read-byte.advance",
        ),
        ([("read_into", (4, 0, 4), returned(0, STALE))], "read-into.at-least-one", ""),
        ([("read_into", (4, 0, 4), returned(-1, STALE))], "read-into.progress", "open.state"),
        ([("read_into", (9, 0, 6), read(0, 6, 9))], "read-into.count", ""),
        ([("read_into", (4, 0, 2), read(0, 4))], "read-into.count", ""),
        (
            [("read_into", (4, 0, 2), returned(2, bytes_at(0, 3, 4)))],
            "read-into.rest-untouched",
            "",
        ),
        ([("read_into", (4, 0, 4), returned(4, STALE))], "read-into.data", ""),
        ([("read_into", (4, -1, 2), returned(2, STALE))], "read-into.offset-neg", ""),
        ([("read_into", (4, 0, 5), failed(Kind.IO))], "read-into.space", ""),
        ([("seek", (-1,), returned())], "seek.negative", ""),
        ([("seek", (-1,), failed(Kind.IO))], "seek.negative", ""),
        ([("seek", (6,), returned())], "seek.past-eof", ""),
        ([("seek", (0,), failed(Kind.EOF))], "seek.zero", "open.state"),
        ([("seek", (5,), failed(Kind.EOF))], "seek.at-len", "open.state"),
        ([("seek", (2,), returned()), ("get_pos", (), returned(0))], "getpos.value", "seek.pos"),
        (
            [("seek", (-1,), failed(Kind.EOF)), ("get_pos", (), returned(-1))],
            "getpos.value",
            "seek.fail-pos",
        ),
        ([CLOSE, ("close", (), failed(Kind.IO))], "close.idempotent", ""),
        ([CLOSE, ("get_pos", (), failed(Kind.NULL))], "getpos.closed", ""),
        ([CLOSE, ("read_byte", (), returned(DATA[0]))], "read-byte.closed", "close.state"),
        ([CLOSE, ("unbuffer", (), failed(Kind.IO))], "unbuffer.closed", ""),
        ([("pread", (1, 4, 0, 2), read(2, 2))], "pread.data", ""),
        ([("pread", (0, 4, 0, 2), returned(0, STALE))], "pread.count", ""),
        ([("pread", (5, 4, 0, 1), returned(0, STALE))], "pread.eof", ""),
        ([("pread", (0, None, 0, 4), failed(Kind.NULL))], "pread.null", ""),
        (
            [("pread", (1, 4, 0, 2), read(1, 2)), ("get_pos", (), returned(3))],
            "getpos.value",
            "pread.pos-unchanged",
        ),
        ([("read_fully", (3, 4, 0, 4), returned(None, read(3, 2).buffer))], "read-fully.eof", ""),
        ([("read_fully", (1, 4, -1, 2), failed(Kind.EOF))], "read-fully.off-neg", ""),
        ([("read_fully", (0, 4, 0, 4), returned(None, read(0, 2).buffer))], "read-fully.exact", ""),
        ([("available", (), returned(6))], "available.bounds", "open.state"),
        ([("skip", (2,), returned(3))], "skip.advance", ""),
        (
            [("skip", (9,), returned(9)), ("get_pos", (), returned(5))],
            "getpos.value",
            "skip.advance",
        ),
        (
            [("skip", (9,), returned(7)), ("get_pos", (), returned(9))],
            "getpos.value",
            "skip.advance",
        ),
        (
            [("has_capability", ("fscontract:no-such-capability",), returned(True))],
            "capabilities.unknown",
            "",
        ),
        (
            [("read_vectored", (((0, 3), (1, 3)), "heap", "absent"), returned(()))],
            "read-vectored.overlap",
            "",
        ),
        (
            [("read_vectored", (((0, 2),), "heap", "absent"), returned((returned(2, DATA[1:3]),)))],
            "read-vectored.data",
            "",
        ),
    ],
)
def test_what_the_document_rules_out_is_rejected_by_its_clause(
    follow: Follow, calls: list[Any], clause: str, cause: str
) -> None:
    failure = follow(*calls).failure
    assert failure is not None
    assert (failure.clause, failure.cause) == (clause, cause)


@pytest.mark.parametrize(
    ("calls", "clause"),
    [
        ([("close", (), failed(Kind.IO))], "close.no-raise"),
        ([("pread", (0, 4, 0, 4), read(0, 3))], "pread.full"),
        ([CLOSE, ("seek", (3,), returned())], "seek.open"),
        ([("skip", (9,), returned(9))], "skip.count"),
        ([("skip", (2,), returned(0))], "skip.progress"),
        ([("available", (), returned(0))], "available.positive"),
        ([CLOSE, ("skip", (1,), returned(1))], "skip.closed"),
    ],
)
def test_a_should_that_is_not_kept_is_missed_and_not_failed(
    follow: Follow, calls: list[Any], clause: str
) -> None:
    judgement = follow(*calls)
    assert judgement.failure is None
    assert judgement.missed == (clause,)


def test_a_failed_seek_leaves_the_position_open_until_it_is_seen(follow: Follow) -> None:
    seek = ("seek", (-1,), failed(Kind.EOF))
    assert follow(seek).states[0].pos == ANY
    assert follow(seek, ("read_byte", (), returned(DATA[3]))).states[0].pos == 4


def test_a_read_after_a_failed_seek_must_still_deliver_bytes_of_the_file(follow: Follow) -> None:
    failure = follow(("seek", (-1,), failed(Kind.EOF)), ("read_byte", (), returned(0))).failure
    assert failure is not None
    assert failure.clause == "read-byte.value"


def test_a_call_that_the_api_has_no_word_for_is_no_verdict(follow: Follow) -> None:
    judgement = follow(("seek", (-1,), Outcome(Kind.INEXPRESSIBLE)))
    assert judgement.failure is None
    assert not judgement.exercised
    assert judgement.unsaid == ("seek.negative", "seek.fail-pos")


def test_two_broken_preconditions_permit_the_exceptions_of_both(follow: Follow) -> None:
    call = ("read_into", (4, -1, -1))
    assert follow((*call, failed(Kind.ILLEGAL_ARGUMENT))).failure is None
    assert follow((*call, failed(Kind.INDEX))).exercised == ()


@pytest.mark.parametrize("ask", ["get_pos", "py_tell"])
def test_what_a_position_should_have_been_is_told(ask: str, follow: Follow) -> None:
    """Also beyond the end, where there are many: what came is never among them."""
    here = follow(("seek", (2,), returned()), (ask, (), returned(3)))
    assert here.failure is not None
    assert here.failure.expected == ("returns 2",)
    beyond = follow(("seek", (9,), returned()), (ask, (), returned(0)), features=LAX_SEEK)
    assert beyond.failure is not None
    assert beyond.failure.expected == ("returns 5 or more",)
