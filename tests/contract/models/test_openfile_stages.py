"""The model of the stages of an open: calls, build(), the future, and the first read."""

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
    ends_overstated_file,
    judge_build,
    judge_call,
    judge_doomed,
    judge_get,
    judge_open_file,
    moved,
)
from fscontract.contract.models.stream_state import Failure
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.program.program import Step

DATA = b"abcdefghij"
RETURNED = returned()
MISSING = Outcome(Kind.IO)
ILLEGAL = Outcome(Kind.ILLEGAL_ARGUMENT)


def case(*calls: tuple[Any, ...], scene: str = "file", features: Sequence[str] = ()) -> Case:
    """Return an opening of a file of ten bytes."""
    return Case(
        Opening(scene, calls),
        len(DATA),
        frozenset(features),
        option_table(),
        own_keys=frozenset({"my.key"}),
        unsupported_keys=frozenset({"my.select"}),
    )


def clause(said: StageVerdict) -> str | None:
    """Return the clause that a verdict names; None if the stage was right."""
    return None if said.failure is None else said.failure.clause


def aspect(said: StageVerdict) -> str:
    """Return what was wrong, "" if nothing was."""
    return "" if said.failure is None else said.failure.aspect


@pytest.mark.parametrize("scene", ["missing", "directory", "unreadable"])
def test_open_file_and_build_do_not_look_at_the_path(scene: str) -> None:
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


@pytest.mark.parametrize(
    "steps",
    [
        [(Step("seek", (4,)), RETURNED)],
        [(Step("seek", (3,)), RETURNED), (Step("skip", (1,)), returned(1))],
        [(Step("py_seek", (0, 2)), returned(4))],
        [(Step("seek", (4,)), RETURNED), (Step("seek", (9,)), Outcome(Kind.EOF))],
    ],
)
def test_a_read_at_the_declared_end_of_a_missing_file_may_return_the_end(
    steps: list[tuple[Step, Outcome]],
) -> None:
    opened, position = case(("opt_long", LENGTH, 4), scene="missing"), 0
    end = returned(-1)
    assert clause(judge_doomed(opened, Step("read_byte"), end, position)) == "open.read-fails"
    for step, outcome in steps:
        position = moved(step, outcome, position)
    assert judge_doomed(opened, Step("read_byte"), end, position) == StageVerdict()


def test_a_missing_file_fails_in_the_future_if_the_profile_says_so() -> None:
    said = judge_get(case(scene="missing"), MISSING)
    assert said == StageVerdict(ended=True)


def test_missing_file_that_raises_no_io_exception_violates_get_ioerror() -> None:
    assert clause(judge_get(case(scene="missing"), ILLEGAL)) == "open.get-ioerror"


def test_path_of_another_scheme_may_be_an_illegal_argument() -> None:
    """Contradiction G14: Hadoop raises no IOException for it."""
    assert judge_get(case(scene="foreign"), ILLEGAL) == StageVerdict(ended=True)


def test_failure_at_the_first_read_violates_failure_stage_if_undeclared() -> None:
    opened = case(scene="missing")
    assert judge_get(opened, RETURNED) == StageVerdict()
    said = judge_doomed(opened, Step("read_byte"), MISSING)
    assert clause(said) == "open.failure-stage"


def test_failure_at_the_first_read_is_permitted_with_a_declared_length() -> None:
    """A declared length lets the filesystem skip looking for the file."""
    opened = case(("opt_long", LENGTH, 10), scene="missing")
    assert judge_doomed(opened, Step("read_byte"), MISSING) == StageVerdict(ended=True)


def test_failure_in_the_future_violates_failure_stage_if_the_first_read_is_declared() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_get(opened, MISSING)) == "open.failure-stage"


def test_failure_at_the_first_read_is_permitted_if_declared() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_get(opened, RETURNED) == StageVerdict()
    assert judge_doomed(opened, Step("read_byte"), MISSING) == StageVerdict(ended=True)


def test_end_of_file_from_a_missing_file_violates_read_fails() -> None:
    """A missing file is not an empty one."""
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_doomed(opened, Step("read_byte"), returned(-1))) == "open.read-fails"


def test_seek_on_a_missing_file_may_return_or_raise() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_doomed(opened, Step("seek", (0,)), RETURNED) == StageVerdict()
    assert judge_doomed(opened, Step("seek", (0,)), MISSING) == StageVerdict()


def test_unknown_mandatory_key_is_refused_by_build() -> None:
    opened = case(("must", "no.such.key", "1"))
    assert judge_build(opened, ILLEGAL) == StageVerdict(ended=True)
    assert judge_build(opened, RETURNED) == StageVerdict()
    assert aspect(judge_get(opened, RETURNED)) == "get returned"


def test_unknown_mandatory_key_refused_in_the_future_is_too_late() -> None:
    opened = case(("must", "no.such.key", "1"))
    said = judge_get(opened, ILLEGAL)
    assert clause(said) == "open.build-checks-options"
    assert said.failure is not None
    assert said.failure.expected == ("build raises ILLEGAL_ARGUMENT",)


def test_unknown_mandatory_key_is_refused_before_the_file_is_looked_for() -> None:
    opened = case(("must", "no.such.key", "1"), scene="missing")
    assert aspect(judge_get(opened, MISSING)) == "get IO"


def test_mandatory_key_without_support_is_refused_as_unsupported() -> None:
    opened = case(("must", "my.select", "1"))
    assert judge_build(opened, Outcome(Kind.UNSUPPORTED)) == StageVerdict(ended=True)
    assert aspect(judge_build(opened, ILLEGAL)) == "build ILLEGAL_ARGUMENT"


def test_unknown_optional_key_must_not_be_refused() -> None:
    opened = case(("opt", "no.such.key", "1"))
    assert aspect(judge_build(opened, ILLEGAL)) == "build ILLEGAL_ARGUMENT"


def test_null_value_is_refused_by_the_call_itself() -> None:
    opened = case(("opt", READ_POLICY, None))
    assert judge_call(opened, 0, ILLEGAL) == StageVerdict(ended=True)
    assert clause(judge_call(opened, 0, RETURNED)) == "open.option-null"


def test_status_of_another_file_may_be_refused_or_ignored() -> None:
    """Contradiction G2: the document demands equal names, and real filesystems ignore them."""
    opened = case(("with_file_status", "name", None))
    assert judge_get(opened, ILLEGAL) == StageVerdict(ended=True)
    assert judge_get(opened, RETURNED) == StageVerdict()
    assert opened.contents(DATA) == (DATA,)


def test_status_of_another_file_does_not_set_the_length() -> None:
    opened = case(("with_file_status", "name", 3))
    assert opened.contents(DATA) == (DATA,)


def test_file_may_end_at_its_declared_or_at_its_actual_length() -> None:
    """Contradiction G6: the document says both."""
    opened = case(("opt_long", LENGTH, 4))
    assert opened.contents(DATA) == (DATA, b"abcd")


def test_length_of_the_status_overrides_the_option() -> None:
    """A status is a hint, which may be ignored."""
    opened = case(("with_file_status", "own", 4), ("opt_long", LENGTH, 2))
    assert opened.contents(DATA) == (DATA, b"abcd", b"ab")


def test_declared_length_beyond_the_file_changes_nothing() -> None:
    assert case(("opt_long", LENGTH, 99)).contents(DATA) == (DATA,)


def test_stale_status_may_be_refused_or_read_either_version() -> None:
    opened = case(("with_file_status", "stale", None))
    assert opened.contents(DATA, b"ABCDEFGHIJ") == (b"ABCDEFGHIJ", DATA)
    assert judge_get(opened, MISSING) == StageVerdict(ended=True)


def test_stale_status_reads_the_old_version_if_it_pins_the_file() -> None:
    opened = case(("with_file_status", "stale", None), features=[PINS])
    assert opened.contents(DATA, b"ABCDEFGHIJ") == (DATA,)


def test_value_of_a_key_of_the_filesystem_may_be_refused() -> None:
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
def test_read_that_needs_no_data_is_not_judged(step: Step, outcome: Outcome) -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_doomed(opened, step, outcome) == StageVerdict()


def test_byte_zero_from_a_missing_file_violates_read_fails() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_doomed(opened, Step("read_byte"), returned(0))) == "open.read-fails"


def test_read_of_a_missing_file_raises_an_io_exception() -> None:
    opened = case(scene="missing", features=[FIRST_READ])
    assert clause(judge_doomed(opened, Step("read_byte"), ILLEGAL)) == "open.get-ioerror"


def test_vectored_read_of_a_missing_file_fails_in_the_futures_of_its_ranges() -> None:
    step = Step("read_vectored", (((0, 2), (4, 2)), "heap", "absent"))
    opened = case(scene="missing", features=[FIRST_READ])
    assert judge_doomed(opened, step, returned((MISSING, MISSING))) == StageVerdict(ended=True)
    got = returned((returned(2, b"xy"), returned(2, b"xy")))
    assert clause(judge_doomed(opened, step, got)) == "open.read-fails"


def test_bad_value_of_a_key_of_the_filesystem_is_refused_for_a_directory_too() -> None:
    opened = case(("opt", "my.key", "x"), scene="directory")
    assert judge_get(opened, ILLEGAL) == StageVerdict(ended=True)
    assert judge_build(opened, ILLEGAL) == StageVerdict(ended=True)


END = Outcome(Kind.EOF)


@pytest.mark.parametrize("declared", [4, 40])
def test_eof_exception_counts_as_the_end_if_the_declared_length_is_wrong(declared: int) -> None:
    """Contradiction G6 of the document."""
    opened = case(("opt_long", LENGTH, declared))
    assert as_end(opened, Step("read_byte"), END) == returned(-1)
    blank = b"\1\1\1"
    assert as_end(opened, Step("read_into", (3, 0, 2)), END) == returned(-1, blank)
    assert as_end(opened, Step("pread", (9, 3, 0, 2)), END) == returned(-1, blank)
    assert as_end(opened, Step("read_buffer", (3, 1, None)), END) == returned((-1, 1, 3), blank)
    got = as_end(opened, Step("pread_buffer", (9, 3, 1, 2)), END)
    assert got == returned((-1, 1, 2), blank)


def test_eof_exception_is_not_the_end_if_the_length_is_right_or_undeclared() -> None:
    right = case(("opt_long", LENGTH, 10))
    assert as_end(case(), Step("read_byte"), END) is None
    assert as_end(right, Step("read_byte"), END) is None
    shorter = case(("opt_long", LENGTH, 4))
    assert as_end(shorter, Step("read_byte"), MISSING) is None
    assert as_end(shorter, Step("read_fully", (0, 9, 0, 9)), END) is None


def test_read_of_a_python_file_may_raise_past_the_end_of_an_overstated_file() -> None:
    failure = Failure("python.read.eof", "", "raised")
    raised, read = Outcome(Kind.IO), Step("py_read", (4,))
    overstated = case(("opt_long", LENGTH, 40))
    assert ends_overstated_file(overstated, read, failure, raised)
    assert not ends_overstated_file(overstated, read, failure, Outcome(Kind.OTHER))
    assert not ends_overstated_file(overstated, Step("read_byte"), failure, raised)
    assert not ends_overstated_file(case(("opt_long", LENGTH, 2)), read, failure, raised)


@pytest.mark.parametrize("refusal", [MISSING, ILLEGAL])
def test_build_may_refuse_a_path_of_another_filesystem_before_a_mandatory_key(
    refusal: Outcome,
) -> None:
    """As FileContext does: it finds the filesystem of the path first."""
    unknown = ("must", "other.key", "1")
    assert judge_build(case(unknown, scene="foreign"), refusal) == StageVerdict(ended=True)
    assert judge_build(case(unknown, scene="missing"), MISSING).failure is not None
