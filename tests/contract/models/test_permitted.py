"""Permitted outcomes of calls, as scripts compare them."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.permitted import FAR, Part, permitted, states_after
from fscontract.contract.models.stream_state import ANY, PAST, Origin, opened
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.contract.spec.profiles import load_profile

_FEATURES = load_profile("reference").features
_OPENED = opened(content(9))


@pytest.mark.parametrize(
    ("op", "args", "counts", "values"),
    [
        ("read_byte", (), (1, 1), ()),
        ("read_into", (8, 2, 4), (1, 4), ()),
        ("pread", (7, 4, 0, 4), (1, 2), ()),
        ("pread", (9, 4, 0, 4), None, (-1,)),
        ("read_fully", (2, 4, 1, 3), (3, 3), (None,)[:0]),
        ("read_buffer", (8, 2, 6), (1, 4), ()),
        ("skip", (2,), None, (0, 1, 2)),
        ("get_pos", (), None, (0,)),
        ("py_read", (4,), (1, 4), ()),
        ("py_read", (-1,), (9, 9), ()),
        ("py_readinto", ("I", 2), (1, 8), ()),
        ("py_closed", (), None, (False,)),
        ("py_with", (), None, (True,)),
    ],
)
def test_counts_and_values_of_an_open_stream(
    op: str, args: tuple[Any, ...], counts: tuple[int, int] | None, values: tuple[Any, ...]
) -> None:
    found = permitted(Step(op, args), _OPENED, _FEATURES)
    assert (found.counts, found.values) == (counts, values)
    assert not found.anything


def test_read_may_return_the_bytes_that_a_truncation_removed() -> None:
    truncated = _OPENED._replace(changed=True, versions=(content(9), content(9)[:4]))
    assert permitted(Step("read_into", (9, 0, 9)), truncated, _FEATURES).counts == (1, 9)
    ranges = Step("read_vectored", (((0, 2), (6, 2)), "heap", "absent"))
    assert [part.data for part in permitted(ranges, truncated, _FEATURES).parts] == [True, True]


def test_refusals_are_kinds() -> None:
    found = permitted(Step("seek", (-1,)), _OPENED, _FEATURES)
    assert Kind.EOF in found.kinds
    assert (found.counts, found.values) == (None, ())
    assert found.says == ("raises EOF",)


def test_ranges_past_the_end_may_fail_alone() -> None:
    features = _FEATURES - {"vector-io-early-eof-check"}
    ranges = ((0, 2), (8, 4))
    found = permitted(Step("read_vectored", (ranges, "heap", "absent")), _OPENED, features)
    assert found.parts == (Part(True, frozenset()), Part(False, frozenset({Kind.EOF})))


def test_position_past_the_end_is_any_large_number() -> None:
    past = _OPENED.at(PAST, Origin("py_seek"))
    found = permitted(Step("py_tell"), past, _FEATURES)
    assert FAR in found.values
    assert min(found.values) == 9


def test_read_at_an_unknown_position_may_return_any_byte() -> None:
    lost = _OPENED.at(ANY, Origin("seek", failed=True))
    found = permitted(Step("read_byte"), lost, _FEATURES)
    assert (found.position, found.counts) == (ANY, (1, 1))


def test_closed_stream_may_answer_anything_where_the_text_is_silent() -> None:
    closed = _OPENED._replace(is_open=False)
    assert permitted(Step("py_readable"), closed, _FEATURES).anything


def test_outcomes_that_miss_the_clause_are_not_permitted() -> None:
    step = Step("py_read", (4,))
    assert permitted(step, _OPENED, _FEATURES, "python.read.full").counts == (4, 4)


@pytest.mark.parametrize(
    ("step", "clause", "says"),
    [
        (Step("py_read", (4,)), "python.read.full", "returns 4 bytes of "),
        (Step("py_readinto", ("B", 4)), "python.readinto.full", "returns 4, the bytes "),
        (Step("py_read", (4,)), "python.read.data", "returns 1 to 4 bytes of "),
    ],
)
def test_text_asks_for_all_bytes_if_fewer_miss_the_clause(
    step: Step, clause: str, says: str
) -> None:
    (text,) = permitted(step, _OPENED, _FEATURES, clause).says
    assert text.startswith(says)


def test_states_after_a_read_tell_how_many_bytes_it_returned() -> None:
    after = states_after(Step("py_read", (3,)), _OPENED, _FEATURES)
    assert {state.pos: counts for state, counts in after.items()} == {1: {1}, 2: {2}, 3: {3}}
