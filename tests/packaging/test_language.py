"""Tests of the check of pages, docstrings and messages."""

from __future__ import annotations

import re

import pytest

from tests.packaging import language
from tests.packaging.language import ALLOWED, Text, of_module, of_page, problems, turns

TURNS = (
    "A value is no number.",
    "It reads so many bytes.",
    "It helps whoever reads.",
    "What becomes of reads.",
    "A caller is told of it.",
    "An error is said.",
    "Reading goes on.",
    "A process of its own.",
    "It waits for ever.",
    "All else fails.",
    "It returns the value as it is.",
    "It comes to a result.",
    "The stream stands at 3.",
    "Sizes have to be of a block.",
    "A stream alone, by itself.",
    "Nobody reads it.",
    "Somebody reads it.",
    "It returns what is there.",
    "The outcome in words.",
)


@pytest.mark.parametrize("text", TURNS)
def test_turn_is_found(text: str) -> None:
    assert len(turns(text)) == 1


def test_each_turn_has_a_test() -> None:
    found = [t for text in TURNS for t in turns(text)]
    for turn in language.TURNS:
        assert any(re.fullmatch(turn, t, re.IGNORECASE) for t in found), turn


def test_turn_across_lines_is_found() -> None:
    assert turns("It waits for\n    ever.") == ["for ever"]


@pytest.mark.parametrize("phrase", ALLOWED)
def test_allowed_phrase_contains_a_turn_and_is_not_found(phrase: str) -> None:
    assert language._TURN.search(phrase)
    assert turns(f"It says {phrase}; this is a standard.") == []


def test_message_and_docstrings_are_found_with_place_and_better_words() -> None:
    source = 'def f():\n    """It goes on."""\n\n    return "a b", f"{f} is no size"\n'
    found = list(problems([*of_module("contract/x.py", source)]))
    assert found == [
        "contract/x.py:2: avoid 'goes on'; better: continues",
        "contract/x.py:4: avoid 'is no'; better: is not a, is not valid",
    ]


def test_messages_of_tests_are_not_checked() -> None:
    assert [t.kind for t in of_module("tests/x.py", 'x = "is no size"')] == []


def test_turn_on_a_page_is_found_with_its_line() -> None:
    assert list(problems([*of_page("docs/x.md", "One.\n\nIt goes\non.\n")])) == [
        "docs/x.md:3: avoid 'goes on'; better: continues"
    ]


def test_question_word_is_a_problem_in_modules_and_above_a_hundredth() -> None:
    def docstrings(kind: str, others: int) -> list[Text]:
        plain = Text("contract/x.py", 1, "other", "Return it.")
        return [Text("contract/x.py", 9, kind, "Whether it is."), *[plain] * others]

    expected = ["contract/x.py:9: docstring begins with 'Whether'"]
    assert list(problems(docstrings("other", 98))) == expected
    assert list(problems(docstrings("other", 99))) == []
    assert list(problems(docstrings("module", 99))) == expected
