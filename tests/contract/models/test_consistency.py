"""What may be seen of a file that changed under the stream."""

from __future__ import annotations

import pytest

from fscontract.contract.models.acceptor import Acceptor
from fscontract.contract.models.stream_state import Judgement
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.contract.spec.profiles import load_profile

OLD = content(5)
NEW = replacement(OLD)


def after(new: bytes | None, step: Step, outcome: Outcome) -> Judgement:
    """The judgement on one call after the file changed from OLD to `new`."""
    acceptor = Acceptor(load_profile("reference").features)
    node = acceptor.change(acceptor.start(OLD), new)
    return acceptor.step(node, acceptor.number(step), step, outcome).judgement


READ = Step("read_into", (5, 0, 5))


@pytest.mark.parametrize(
    "data",
    [OLD, NEW, OLD[:2] + NEW[2:], NEW[:1] + OLD[1:4] + NEW[4:]],
    ids=["old", "new", "mixed", "m2"],
)
def test_every_byte_may_be_old_or_new(data: bytes) -> None:
    assert after(NEW, READ, returned(5, data)).failure is None


def test_a_byte_that_is_neither_old_nor_new_breaks_cons_either() -> None:
    failure = after(NEW, READ, returned(5, bytes(5))).failure
    assert failure is not None
    assert failure.clause == "consistency.either"


def test_zeros_where_the_file_was_cut_off_are_neither_old_nor_new() -> None:
    failure = after(OLD[:2], READ, returned(5, OLD[:2] + bytes(3))).failure
    assert failure is not None
    assert failure.clause == "consistency.either"


def test_the_end_may_be_the_old_or_the_new_one() -> None:
    step = Step("pread", (2, 4, 0, 1))
    buffer = bytes([OLD[2], 1, 1, 1])
    assert after(OLD[:2], step, returned(-1, bytes([1] * 4))).failure is None
    assert after(OLD[:2], step, returned(1, buffer)).failure is None


def test_an_end_that_the_file_never_had_breaks_cons_length() -> None:
    failure = after(None, Step("read_byte"), returned(-1)).failure
    assert failure is not None
    assert failure.clause == "consistency.length"


def test_an_io_error_is_permitted_and_anything_else_breaks_cons_errors() -> None:
    assert after(None, Step("read_byte"), Outcome(Kind.IO)).exercised == ("consistency.errors",)
    failure = after(None, Step("read_byte"), Outcome(Kind.NULL)).failure
    assert failure is not None
    assert failure.clause == "consistency.errors"
