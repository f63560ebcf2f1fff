"""With the feature hadoop-tests, Hadoop's own tests count where they are stricter than the
documents, and nothing else changes.
"""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.models import opened_path
from fscontract.contract.models.openfile_stages import Case, judge_call, judge_get
from fscontract.contract.models.transition_table import HADOOP_TESTS
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.spec.clauses import clauses
from tests.contract.models.observed import CLOSE, Observed, call, judgement

TESTS = (HADOOP_TESTS,)
NEGATIVE = call("seek", -1, raises=Kind.EOF)
LOOSE = ("!supports-strict-exceptions",)


def failed(*calls: Observed, features: tuple[str, ...] = ()) -> set[str]:
    """Return the clause that the last call violates, and the one that may have caused that."""
    failure = judgement(*calls, features=features).failure
    return set() if failure is None else {failure.cause, failure.clause} - {""}


@pytest.mark.parametrize(
    ("clause", "calls", "features"),
    [
        (
            "read-vectored.null-range",
            (call("read_vectored", (None,), "heap", "absent", raises=Kind.ILLEGAL_ARGUMENT),),
            (),
        ),
        (
            "read-vectored.empty",
            (call("read_vectored", (), "heap", "absent", raises=Kind.ILLEGAL_ARGUMENT),),
            (),
        ),
        ("getpos.closed", (CLOSE, call("get_pos", raises=Kind.IO)), ()),
        ("seek.fail-pos", (call("seek", 2), NEGATIVE, call("get_pos", gives=5)), ()),
        ("seek.open", (CLOSE, call("seek", 1)), ()),
        ("pread.null", (call("pread", 0, None, 0, 4, raises=Kind.NULL),), ()),
        ("pread.space", (call("pread", 0, 4, 0, 5, raises=Kind.NULL),), ()),
        ("read-fully.space", (call("read_fully", 0, 4, 0, 5, raises=Kind.NULL),), ()),
        ("pread.neg-pos", (call("pread", -1, 4, 0, 4, raises=Kind.NULL),), LOOSE),
        ("read-fully.neg-pos", (call("read_fully", -1, 4, 0, 4, raises=Kind.NULL),), LOOSE),
    ],
)
def test_stricter_test_of_hadoop_counts_with_the_feature_only(
    clause: str, calls: tuple[Observed, ...], features: tuple[str, ...]
) -> None:
    assert failed(*calls, features=features) == set()
    assert clause in failed(*calls, features=(*features, *TESTS))
    assert clauses()[clause].hadoop_test.startswith("Hadoop's own test")


@pytest.mark.parametrize(
    "calls",
    [
        (call("read_vectored", (None,), "heap", "absent", raises=Kind.NULL),),
        (CLOSE, call("get_pos", gives=0)),
        (call("seek", 2), NEGATIVE, call("get_pos", gives=2)),
        (CLOSE, call("seek", 1, raises=Kind.IO)),
        (call("pread", 0, 4, 0, 5, raises=Kind.INDEX),),
    ],
)
def test_what_the_tests_ask_for_is_right(calls: tuple[Observed, ...]) -> None:
    assert failed(*calls, features=TESTS) == set()


def test_position_of_a_closed_stream_is_asked_for_with_unbuffer_only() -> None:
    calls = CLOSE, call("get_pos", raises=Kind.IO)
    assert failed(*calls, features=(*TESTS, "!supports-unbuffer")) == set()


def _case(scene: str, *calls: Any, tests: bool) -> Case:
    features = frozenset({HADOOP_TESTS} if tests else ())
    return Case(Opening(scene, calls), 5, features, option_table())


@pytest.mark.parametrize("tests", [False, True])
def test_missing_file_of_a_builder_is_not_found(tests: bool) -> None:
    missing = _case("missing", tests=tests)
    said = judge_get(missing, Outcome(Kind.IO)).failure
    assert (said.clause if said else "") == ("open.get-ioerror" if tests else "")
    assert judge_get(missing, Outcome(Kind.NOT_FOUND)).failure is None


@pytest.mark.parametrize("tests", [False, True])
def test_null_status_is_accepted(tests: bool) -> None:
    opening = _case("file", ("with_file_status", "none", None), tests=tests)
    refused = judge_call(opening, 0, Outcome(Kind.NULL)).failure is not None
    assert refused is tests


def test_directory_is_not_found_if_exceptions_are_strict() -> None:
    io = Outcome(Kind.IO)
    strict = frozenset({"supports-strict-exceptions"})
    assert opened_path.judge_open("directory", strict, io).failure is None
    assert opened_path.judge_open("directory", frozenset(TESTS), io).failure is None
    assert opened_path.judge_open("directory", strict | {HADOOP_TESTS}, io).failure is not None


def test_every_note_on_a_test_is_of_a_testable_clause() -> None:
    noted = [c for c in clauses().values() if c.hadoop_test]
    assert len(noted) == 13
    assert all(c.testable for c in noted)
