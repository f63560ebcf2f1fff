"""Judging open() of unusual paths: the exception, the time of the check, and what is read."""

from __future__ import annotations

import pytest

from fscontract.contract.models.opened_path import (
    CHECKS_AT_OPEN,
    CLASS,
    CLAUSES,
    NOTHING,
    PRESENCE,
    judge_open,
    judge_read,
)
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.spec.clauses import clauses

LOOSE: frozenset[str] = frozenset()
STRICT = frozenset({"supports-strict-exceptions"})
IO, NOT_FOUND, OTHER = Outcome(Kind.IO), Outcome(Kind.NOT_FOUND), Outcome(Kind.OTHER)
ILLEGAL = Outcome(Kind.ILLEGAL_ARGUMENT)


def opened(kind: str, outcome: Outcome, features: frozenset[str] = LOOSE) -> str:
    """Return the violated clause of an open, "" if it is right."""
    failure = judge_open(kind, features, outcome).failure
    return "" if failure is None else failure.clause


def read(kind: str, outcome: Outcome, features: frozenset[str] = LOOSE) -> str:
    """Return the violated clause of the first read after an open that returned."""
    failure = judge_read(kind, features, outcome).failure
    return "" if failure is None else failure.clause


@pytest.mark.parametrize(
    "kind", ["missing", "below-file", "directory", "empty-directory", "empty-path", "unreadable"]
)
def test_any_io_error_is_right(kind: str) -> None:
    assert opened(kind, IO) == opened(kind, NOT_FOUND) == ""


def test_missing_path_must_be_not_found_with_strict_exceptions_only() -> None:
    assert opened("missing", IO, STRICT) == "open.missing"
    assert opened("missing", NOT_FOUND, STRICT) == ""
    assert opened("directory", IO, STRICT) == ""


def test_missing_path_should_be_not_found() -> None:
    assert judge_open("missing", LOOSE, IO).missed == (CLASS,)
    assert CLASS in judge_open("missing", LOOSE, NOT_FOUND).exercised
    assert judge_open("below-file", LOOSE, IO).missed == ()


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        ("missing", "open.missing"),
        ("below-file", "open.below-file"),
        ("directory", "open.directory"),
        ("empty-path", "open.empty-path"),
        ("unreadable", "open.unreadable"),
    ],
)
def test_exception_that_is_no_io_error_violates_the_clause_of_the_path(
    kind: str, clause: str
) -> None:
    assert opened(kind, OTHER) == clause
    assert read(kind, OTHER) == clause


def test_form_of_an_empty_path_may_be_refused() -> None:
    assert opened("empty-path", ILLEGAL) == ""
    assert opened("missing", ILLEGAL) == "open.missing"


@pytest.mark.parametrize("kind", ["missing", "below-file", "empty-path", "directory"])
def test_check_by_the_first_read_is_too_late(kind: str) -> None:
    assert read(kind, IO, frozenset({CHECKS_AT_OPEN})) == PRESENCE
    assert read(kind, IO) == ""


def test_missing_permission_may_be_reported_by_the_first_read() -> None:
    assert read("unreadable", IO) == ""
    assert read("unreadable", returned(7)) == "open.unreadable"


@pytest.mark.parametrize("outcome", [returned(-1), returned(7)])
def test_nothing_is_read_where_there_is_no_file(outcome: Outcome) -> None:
    assert read("missing", outcome) == read("below-file", outcome) == NOTHING
    assert read("directory", outcome) == "open.directory"


def test_clauses_of_the_model_are_testable() -> None:
    checked = {c.id for c in clauses().values() if any(k.startswith("path.") for k in c.checks)}
    assert checked == CLAUSES
