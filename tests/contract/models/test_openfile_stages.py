"""What the stages of an open through a builder may do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    LENGTH,
    READ_POLICY,
    option_table,
)
from fscontract.contract.models.openfile_stages import (
    FIRST_READ,
    PINS,
    Case,
    StageVerdict,
    as_end,
    judge_build,
    judge_call,
    judge_doomed,
    judge_get,
    judge_open_file,
)
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.program.program import Step

DATA = b"abcdefghij"
RETURNED = returned()
MISSING = Outcome(Kind.IO)
ILLEGAL = Outcome(Kind.ILLEGAL_ARGUMENT)


def case(*calls: tuple[Any, ...], scene: str = "file", features: Sequence[str] = ()) -> Case:
    """An opening of a file of ten bytes."""
    return Case(
        Opening(scene, calls),
        len(DATA),
        frozenset(features),
        option_table(),
        own_keys=frozenset({"my.key"}),
        unsupported_keys=frozenset({"my.select"}),
    )


def clause(said: StageVerdict) -> str | None:
    """The clause that a verdict names; None if the stage was right."""
    return None if said.failure is None else said.failure.clause


def aspect(said: StageVerdict) -> str:
    """What was wrong, "" if nothing was."""
    return "" if said.failure is None else said.failure.aspect


@pytest.mark.parametrize("scene", ["missing", "directory", "unreadable"])
def test_no_scene_fails_before_the_future_is_asked(scene: str) -> None:
    """Neither open_file() nor build() may tell what is at the path."""
    opened = case(scene=scene)
    assert judge_open_file(opened, RETURNED).failure is None
    assert judge_build(opened, RETURNED).failure is None
    assert clause(judge_open_file(opened, MISSING)) == clause(judge_build(opened, MISSING))
    assert str(clause(judge_build(opened, MISSING))).startswith("open.")


@pytest.mark.parametrize("judge", [judge_open_file, judge_build])
def test_a_path_of_another_filesystem_may_be_refused_at_once(
    judge: Callable[[Case, Outcome], StageVerdict],
) -> None:
    """Its form can't change; but the exception is one for a path."""
    opened = case(scene="foreign")
    assert judge(opened, Outcome(Kind.ILLEGAL_ARGUMENT)) == StageVerdict(ended=True)
    assert clause(judge(opened, Outcome(Kind.OTHER))) == "open.foreign-path"


@pytest.mark.parametrize("kind", [Kind.NULL, Kind.ILLEGAL_ARGUMENT])
def test_a_null_status_may_be_refused(kind: Kind) -> None:
    opened = case(("with_file_status", "none", None))
    assert judge_call(opened, 0, Outcome(kind)) == StageVerdict(ended=True)
    assert judge_call(opened, 0, Outcome(Kind.IO)).failure is not None


@pytest.mark.parametrize(("size", "refusable"), [(0, True), (-1, True), (1, False), ("abc", False)])
def test_a_buffer_size_below_one_may_be_refused(size: object, refusable: bool) -> None:
    opened = case(("opt", BUFFER_SIZE, size))
    verdict = judge_build(opened, Outcome(Kind.ILLEGAL_ARGUMENT))
    assert (verdict == StageVerdict(ended=True)) is refusable


def test_a_pread_at_the_declared_end_of_a_missing_file_may_return_the_end() -> None:
    opened = case(("opt_long", LENGTH, 4), scene="missing")
    end = returned(-1, bytes([FILL]))
    assert judge_doomed(opened, Step("pread", (4, 1, 0, 1)), end).failure is None
    assert judge_doomed(opened, Step("pread", (3, 1, 0, 1)), end).failure is not None


def test_a_missing_file_fails_in_the_future_if_the_profile_says_so() -> None:
    said = judge_get(case(scene="missing"), MISSING)
    assert said == StageVerdict(ended=True)


def test_a_missing_file_raises_an_io_exception_and_no_other() -> None:
    assert clause(judge_get(case(scene="missing"), ILLEGAL)) == "open.get-ioerror"


def test_a_path_of_another_scheme_may_be_an_illegal_argument() -> None:
    """G14: it is no IOException in Hadoop."""
    assert judge_get(case(scene="foreign"), ILLEGAL) == StageVerdict(ended=True)


def test_a_failure_at_the_first_read_is_later_than_the_future_that_was_declared() -> None:
    opened = case(scene="missing")
    assert judge_get(opened, RETURNED) == StageVerdict()
    said = judge_doomed(opened, Step("read_byte"), MISSING)
    assert clause(said) == "open.failure-stage"


def test_a_failure_at_the_first_read_is_right_if_a_length_was_declared() -> None:
    """Who tells the length believes that the file is there, so that nobody has to look."""
    opened = case(("opt_long", LENGTH, 10), scene="missing")
    assert judge_doomed(opened, Step("read_byte"), MISSING) == StageVerdict(ended=True)


def test_a_failure_in_the_future_is_earlier_than_the_first_read_that_was_declared() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_get(opened, MISSING)) == "open.failure-stage"


def test_a_failure_at_the_first_read_is_right_if_that_was_declared() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_get(opened, RETURNED) == StageVerdict()
    assert judge_doomed(opened, Step("read_byte"), MISSING) == StageVerdict(ended=True)


def test_a_missing_file_that_can_be_read_never_fails_at_all() -> None:
    """Not even -1 will do: a file that is not there is not an empty one."""
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_doomed(opened, Step("read_byte"), returned(-1))) == "open.read-fails"


def test_a_call_without_io_on_a_stream_of_nothing_tells_nothing() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_doomed(opened, Step("seek", (0,)), RETURNED) == StageVerdict()
    assert judge_doomed(opened, Step("seek", (0,)), MISSING) == StageVerdict()


def test_a_mandatory_key_that_is_not_known_is_refused_by_build() -> None:
    opened = case(("must", "no.such.key", "1"))
    assert judge_build(opened, ILLEGAL) == StageVerdict(ended=True)
    assert judge_build(opened, RETURNED) == StageVerdict()
    assert aspect(judge_get(opened, RETURNED)) == "get returned"


def test_refusing_a_mandatory_key_in_the_future_is_too_late() -> None:
    opened = case(("must", "no.such.key", "1"))
    assert clause(judge_get(opened, ILLEGAL)) == "open.build-checks-options"


def test_refusing_a_mandatory_key_comes_before_looking_for_the_file() -> None:
    opened = case(("must", "no.such.key", "1"), scene="missing")
    assert aspect(judge_get(opened, MISSING)) == "get IO"


def test_a_key_without_support_is_refused_as_unsupported() -> None:
    opened = case(("must", "my.select", "1"))
    assert judge_build(opened, Outcome(Kind.UNSUPPORTED)) == StageVerdict(ended=True)
    assert aspect(judge_build(opened, ILLEGAL)) == "build ILLEGAL_ARGUMENT"


def test_an_optional_key_that_is_not_known_is_no_reason_to_refuse() -> None:
    opened = case(("opt", "no.such.key", "1"))
    assert aspect(judge_build(opened, ILLEGAL)) == "build ILLEGAL_ARGUMENT"


def test_a_call_with_a_null_value_is_rejected_at_once() -> None:
    opened = case(("opt", READ_POLICY, None))
    assert judge_call(opened, 0, ILLEGAL) == StageVerdict(ended=True)
    assert clause(judge_call(opened, 0, RETURNED)) == "open.option-null"


def test_a_status_of_another_file_may_be_rejected_or_ignored() -> None:
    """G2: the document demands equal names, and real filesystems ignore them."""
    opened = case(("with_file_status", "name", None))
    assert judge_get(opened, ILLEGAL) == StageVerdict(ended=True)
    assert judge_get(opened, RETURNED) == StageVerdict()
    assert opened.contents(DATA) == (DATA,)


def test_a_status_of_another_file_tells_nothing_of_the_length() -> None:
    opened = case(("with_file_status", "name", 3))
    assert opened.contents(DATA) == (DATA,)


def test_a_file_may_end_at_its_declared_length_or_where_it_does() -> None:
    """G6: the document says both."""
    opened = case(("opt_long", LENGTH, 4))
    assert opened.contents(DATA) == (DATA, b"abcd")


def test_the_length_of_a_status_or_that_of_the_option_counts() -> None:
    """A status is a hint, which may be ignored."""
    opened = case(("with_file_status", "own", 4), ("opt_long", LENGTH, 2))
    assert opened.contents(DATA) == (DATA, b"abcd", b"ab")


def test_a_length_beyond_the_file_changes_nothing() -> None:
    assert case(("opt_long", LENGTH, 99)).contents(DATA) == (DATA,)


def test_an_old_status_may_be_noticed_and_may_show_either_version() -> None:
    opened = case(("with_file_status", "stale", None))
    assert opened.contents(DATA, b"ABCDEFGHIJ") == (b"ABCDEFGHIJ", DATA)
    assert judge_get(opened, MISSING) == StageVerdict(ended=True)


def test_an_old_status_never_shows_the_new_version_if_it_pins_the_file() -> None:
    opened = case(("with_file_status", "stale", None), features=[PINS])
    assert opened.contents(DATA, b"ABCDEFGHIJ") == (DATA,)


def test_values_of_a_keys_own_meaning_may_be_rejected() -> None:
    opened = case(("must", "my.key", "?"))
    assert judge_build(opened, ILLEGAL) == StageVerdict(ended=True)


@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        (Step("read_into", (0, 0, 0)), returned(0, b"")),
        (Step("read_fully", (0, 0, 0, 0)), returned(None, b"")),
        (Step("read_buffer", (0, 0, None)), returned((0, 0, 0), b"")),
        (Step("read_vectored", (((0, 0),), "heap", "absent")), returned((returned(0, b""),))),
        (Step("read_vectored", (((0, 2), (1, 2)), "heap", "absent")), ILLEGAL),
    ],
    ids=str,
)
def test_a_read_of_no_bytes_or_with_bad_arguments_tells_nothing(
    step: Step, outcome: Outcome
) -> None:
    """It needs nothing to read from."""
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_doomed(opened, step, outcome) == StageVerdict()


def test_a_byte_of_value_zero_is_one_that_was_read() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_doomed(opened, Step("read_byte"), returned(0))) == "open.read-fails"


def test_an_exception_of_a_read_without_arguments_must_be_an_io_exception() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_doomed(opened, Step("read_byte"), ILLEGAL)) == "open.get-ioerror"


def test_the_future_of_a_range_is_where_a_vectored_read_fails() -> None:
    """The call itself only starts it."""
    step = Step("read_vectored", (((0, 2), (4, 2)), "heap", "absent"))
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_doomed(opened, step, returned((MISSING, MISSING))) == StageVerdict(ended=True)
    got = returned((returned(2, b"xy"), returned(2, b"xy")))
    assert clause(judge_doomed(opened, step, got)) == "open.read-fails"


def test_a_bad_value_of_an_own_key_is_refused_whatever_lies_at_the_path() -> None:
    opened = case(("opt", "my.key", "x"), scene="directory")
    assert judge_get(opened, ILLEGAL) == StageVerdict(ended=True)
    assert judge_build(opened, ILLEGAL) == StageVerdict(ended=True)


END = Outcome(Kind.EOF)


@pytest.mark.parametrize("declared", [4, 40])
def test_the_end_of_a_file_of_another_length_than_declared_may_be_raised(declared: int) -> None:
    """G6: an EOFException there is as good as -1."""
    opened = case(("opt_long", LENGTH, declared))
    assert as_end(opened, Step("read_byte"), END) == returned(-1)
    blank = b"\1\1\1"
    assert as_end(opened, Step("read_into", (3, 0, 2)), END) == returned(-1, blank)
    assert as_end(opened, Step("pread", (9, 3, 0, 2)), END) == returned(-1, blank)
    assert as_end(opened, Step("read_buffer", (3, 1, None)), END) == returned((-1, 1, 3), blank)
    got = as_end(opened, Step("pread_buffer", (9, 3, 1, 2)), END)
    assert got == returned((-1, 1, 2), blank)


def test_elsewhere_an_eof_exception_is_no_end() -> None:
    right = case(("opt_long", LENGTH, 10))
    assert as_end(case(), Step("read_byte"), END) is None
    assert as_end(right, Step("read_byte"), END) is None
    shorter = case(("opt_long", LENGTH, 4))
    assert as_end(shorter, Step("read_byte"), MISSING) is None
    assert as_end(shorter, Step("read_fully", (0, 9, 0, 9)), END) is None
