"""The first byte of a read that differs, where the text of its outcome is cut."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.differences import difference
from fscontract.contract.models.stream_state import State, opened
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.program.program import Step

DATA = bytes(range(100, 164))
FILLED = bytes([FILL])


def _at(pos: int) -> State:
    state = opened(DATA)
    return state.at(pos, state.origin)


def _wrong(data: bytes, at: int) -> bytes:
    return data[:at] + b"\x00" + data[at + 1 :]


def test_difference_shows_the_bytes_around_it() -> None:
    """Four before it, and those from it on."""
    text = difference(Step("py_read", (30,)), _at(0), returned(_wrong(DATA[:30], 18)))
    assert text == (
        "byte 18: expected 72 73 74 75 [76] 77 78 79 7a 7b, got 72 73 74 75 [00] 77 78 79 7a 7b"
    )


@pytest.mark.parametrize(
    ("op", "args", "pos", "outcome", "place"),
    [
        ("py_read", (40,), 4, returned(_wrong(DATA[4:44], 20)), "byte 20 (offset 24): "),
        ("py_readlines", (None,), 0, returned((DATA[:10], _wrong(DATA[10:], 9))), "byte 19: "),
        ("py_readinto", ("B", 30), 0, returned(30, _wrong(DATA[:30], 29)), "byte 29: "),
        (
            *("read_into", (40, 2, 30), 5),
            returned(30, FILLED * 2 + _wrong(DATA[5:35], 20) + FILLED * 8),
            "byte 22 (offset 25): ",
        ),
        (
            *("pread", (8, 30, 0, 20), 50),
            returned(20, DATA[8:28] + b"\x02" + FILLED * 9),
            "byte 20: expected 7c 7d 7e 7f [01]",
        ),
        ("read_fully", (8, 20, 0, 20), 0, returned(None, _wrong(DATA[8:28], 17)), "byte 17 (off"),
        ("read_fully_all", (0, 20), 9, returned(None, _wrong(DATA[:20], 19)), "byte 19: "),
        ("read_buffer", (20, 0, None), 0, returned((20, 20, 20), _wrong(DATA[:20], 18)), "byte 18"),
        (
            *("read_vectored", (((0, 4), (4, 20)), "heap", "absent"), 0),
            returned((returned(4, DATA[:4]), returned(20, _wrong(DATA[4:24], 16)))),
            "range 2, byte 16 (offset 20): ",
        ),
    ],
)
def test_difference_names_the_byte_and_its_offset(
    op: str, args: tuple[Any, ...], pos: int, outcome: Outcome, place: str
) -> None:
    """Of the buffer or value, and of the file if that is another number."""
    assert difference(Step(op, args), _at(pos), outcome).startswith(place)


@pytest.mark.parametrize(
    ("op", "outcome"),
    [
        ("py_read", returned(DATA[:30])),
        ("py_read", returned(_wrong(DATA[:30], 3))),
        ("py_read", returned(DATA[:30].hex())),
        ("py_read", Outcome(Kind.IO)),
        ("py_readinto", returned(None, DATA[:30])),
        ("py_tell", returned(4)),
    ],
)
def test_no_difference_where_there_is_none_or_the_outcome_shows_it(
    op: str, outcome: Outcome
) -> None:
    """The first bytes are in the outcome; other values are shown whole."""
    args = {"py_read": (30,), "py_readinto": ("B", 30)}.get(op, ())
    assert difference(Step(op, args), _at(0), outcome) == ""


@pytest.mark.parametrize(
    ("op", "args", "value", "place"),
    [
        ("fs_cat_file", (None, None), _wrong(DATA, 20), "byte 20: expected 74 75 76 77 [78]"),
        ("fs_cat_file", (None, None), DATA[:20], ""),
        (
            *("fs_cat_ranges", (("file", "file"), (0, 2), (40, 60), "default")),
            (DATA[:40], _wrong(DATA[2:60], 30)),
            "item 2, byte 30: ",
        ),
        ("fs_cat", (("file",), "default"), (("file", _wrong(DATA, 16)),), "item 1, item 2, byte "),
        (
            *("fs_text", ("file", "read", "latin-1", "strict", None)),
            (DATA.replace(b"|", b"!").decode("latin-1"),),
            "item 1, character 24: expected 'xyz{|}~\\x7f\\x80\\x81', got 'xyz{!}~",
        ),
    ],
)
def test_difference_of_a_call_without_a_stream_names_its_place(
    op: str, args: tuple[Any, ...], value: Any, place: str
) -> None:
    text = difference(Step(op, args), _at(0), returned(value))
    assert text.startswith(place)
    assert bool(text) == bool(place)
