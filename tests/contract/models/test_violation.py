"""The judge counts comparisons and keeps those that differ."""

from __future__ import annotations

import pytest

from fscontract.contract.models.violation import Judge, Violation, difference_of


def test_equal_values_exercise_the_clause() -> None:
    judge = Judge()
    assert judge.compare("split.cover", 1, 1) is None
    assert (judge.violations, judge.exercised["split.cover"]) == ([], 1)


def test_different_values_are_a_violation_and_are_kept() -> None:
    judge = Judge()
    violation = judge.compare("split.cover", 1, 2, "blocks")
    assert violation == Violation(
        "split.cover", "blocks: 2", actual="1", kind="blocks", difference="less"
    )
    assert judge.violations == [violation]


def test_violation_also_exercises_the_clause() -> None:
    judge = Judge()
    judge.compare("split.cover", 1, 2)
    assert judge.exercised["split.cover"] == 1


def test_long_values_are_cut_to_the_length_of_the_judge() -> None:
    class Brief(Judge):
        longest_repr = 3

    violation = Brief().compare("split.cover", 12345, 67890)
    assert violation == Violation("split.cover", "678", "123", difference="less")


@pytest.mark.parametrize(
    ("actual", "expected", "difference"),
    [
        (False, True, "not so"),
        (1, 2, "less"),
        (2.5, 2, "more"),
        ([b"a"], [b"a", b"b"], "less"),
        ([b"a", b"a"], [b"a"], "more"),
        ([b"a", b"c"], [b"a", b"b"], "less and more"),
        ([b"b", b"a"], [b"a", b"b"], "order"),
        ([["a"], ["a"]], [["a"], []], "more"),
        ({"a": 1}, {"a": 1, "b": 1}, "less"),
        (b"ab", b"abc", "cut"),
        (b"bc", b"abc", "cut"),
        (b"xbc", b"abc", ""),
        (None, [], ""),
    ],
)
def test_difference_is_a_word(actual: object, expected: object, difference: str) -> None:
    assert difference_of(actual, expected) == difference
