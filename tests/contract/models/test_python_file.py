"""What the acceptor permits of Python's file protocol."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.outcome import FILL, Kind, returned
from tests.contract.models.conftest import DATA, Follow, failed

LINES = b"ab\ncd\ne"


@pytest.mark.parametrize(
    "calls",
    [
        [("py_read", (-1,), returned(LINES))],
        [("py_read", (3,), returned(LINES[:3])), ("py_tell", (), returned(3))],
        [("py_readline", (None,), returned(b"ab\n")), ("py_next", (), returned(b"cd\n"))],
        [("py_readline", (2,), returned(b"ab"))],
        [("py_readlines", (None,), returned((b"ab\n", b"cd\n", b"e")))],
        [("py_readlines", (3,), returned((b"ab\n",)))],
        [("py_readlines", (3,), returned((b"ab\n", b"cd\n")))],
        [("py_seek", (9, 0), returned(9)), ("py_read", (1,), returned(b""))],
        [
            ("py_seek", (9, 0), returned(9)),
            ("get_pos", (), returned(7)),
            ("py_tell", (), returned(9)),
        ],
        [("py_seek", (-1, 2), returned(6)), ("py_read", (4,), returned(b"e"))],
        [
            ("py_seek", (9, 0), returned(9)),
            ("seek", (8,), failed(Kind.EOF)),
            ("get_pos", (), returned(7)),
            ("py_tell", (), returned(9)),
        ],
        [("py_with", (), returned(True)), ("py_read", (1,), failed(Kind.ILLEGAL_ARGUMENT))],
        [("py_write", (), failed(Kind.UNSUPPORTED))],
    ],
)
def test_what_the_protocol_permits_is_accepted(follow: Follow, calls: list[Any]) -> None:
    assert follow(*calls, data=LINES).failure is None


@pytest.mark.parametrize(
    ("calls", "clause"),
    [
        ([("py_read", (-1,), returned(LINES[:4]))], "python.read.all"),
        ([("py_read", (2,), returned(LINES[:3]))], "python.read.count"),
        ([("py_read", (2,), returned(bytearray(LINES[:2])))], "python.read.bytes"),
        ([("py_read", (2,), returned(b""))], "python.read.progress"),
        ([("py_readline", (None,), returned(b"ab"))], "python.readline.line"),
        ([("py_readline", (None,), returned(b"ab\ncd\n"))], "python.readline.line"),
        ([("py_readline", (2,), returned(b"ab\n"))], "python.readline.limit"),
        ([("py_readlines", (1,), returned((b"ab\n", b"cd\n")))], "python.readlines.hint"),
        ([("py_readlines", (None,), returned((b"ab\ncd\n", b"e")))], "python.readlines.all"),
        ([("py_next", (), returned(None))], "python.iter.lines"),
        ([("py_seek", (2, 0), returned(3))], "python.seek.returns"),
        ([("py_readinto", ("I", 1), returned(1, bytes([FILL]) * 4))], "python.readinto.formats"),
        ([("py_closed", (), returned(True))], "python.closed.before"),
        ([("py_with", (), returned(False))], "python.with.closes"),
        ([("py_write", (), returned(1))], "python.write.refused"),
    ],
)
def test_what_the_protocol_rules_out_is_rejected_by_its_clause(
    follow: Follow, calls: list[Any], clause: str
) -> None:
    failure = follow(*calls, data=LINES).failure
    assert failure is not None
    assert failure.clause == clause


def test_the_stream_and_the_file_share_one_position(follow: Follow) -> None:
    calls = [("py_read", (2,), returned(DATA[:2])), ("read_byte", (), returned(DATA[0]))]
    failure = follow(*calls).failure
    assert failure is not None
    assert failure.cause == "python.read.advance"
