"""Failures as Markdown for the tracker of the library under test."""

from __future__ import annotations

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.issue import issue


def _issue(clause: str, expected: str, actual: str, language: str = "python") -> list[str]:
    failure = Failure(clause, Program(9, ()), frozenset(), 4096, {"python": "3.11.7"})
    return issue(failure, "pass", language, [expected], actual).splitlines()


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("python", "Here: raises EOFError or OSError."),
        ("java", "Here: raises EOFException or IOException."),
        ("junit", "Here: raises EOFException or IOException."),
    ],
)
def test_expected_exceptions_have_the_names_of_the_language(language: str, expected: str) -> None:
    assert expected in _issue("read-fully.closed", "raises EOF or IO", "returned", language)


@pytest.mark.parametrize(
    ("actual", "shown"),
    [
        ("OTHER (SystemError: EOF (at 3))", "raised SystemError: EOF (at 3)."),
        ("build: ILLEGAL_ARGUMENT (Refused: no)", "build: raised Refused: no."),
        ("EOF", "raised EOFError."),
        ("returned 5", "returned 5."),
        ("IO is missing", "IO is missing."),
    ],
)
def test_exception_that_came_is_shown_by_its_class(actual: str, shown: str) -> None:
    lines = _issue("read-fully.closed", "raises IO", actual)
    assert lines[lines.index("## Actual") + 2] == shown


def test_title_cuts_a_long_outcome_and_the_text_shows_it() -> None:
    message = "word " * 100 + "end"
    lines = _issue("read-fully.closed", "raises IO", f"NULL (Error: {message})")
    assert lines[0].endswith("word ...")
    assert len(lines[0]) < 160
    assert any(line.endswith("word end.") for line in lines[1:])


def test_title_has_no_escapes_and_the_text_has_them() -> None:
    lines = _issue("read-fully.closed", "raises IO", "NULL (Error: no _size of a `file`)")
    assert lines[0].endswith(": raised Error: no _size of a `file`")
    assert "raised Error: no \\_size of a \\`file\\`." in lines


def test_reading_starts_as_a_sentence_without_its_number() -> None:
    lines = _issue("open.number-default", "build returns", "build: ILLEGAL_ARGUMENT (E: no)")
    assert any(line.startswith("The history says MUST") for line in lines)
