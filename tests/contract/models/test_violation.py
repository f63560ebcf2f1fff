"""The judge counts comparisons and keeps those that differ."""

from __future__ import annotations

from fscontract.contract.models.violation import Judge, Violation


def test_equal_values_exercise_the_clause() -> None:
    judge = Judge()
    assert judge.compare("split.cover", 1, 1) is None
    assert (judge.violations, judge.exercised["split.cover"]) == ([], 1)


def test_different_values_are_a_violation_and_are_kept() -> None:
    judge = Judge()
    violation = judge.compare("split.cover", 1, 2, "blocks")
    assert violation == Violation("split.cover", "blocks: 2", actual="1", kind="blocks")
    assert judge.violations == [violation]


def test_violation_also_exercises_the_clause() -> None:
    judge = Judge()
    judge.compare("split.cover", 1, 2)
    assert judge.exercised["split.cover"] == 1


def test_long_values_are_cut_to_the_length_of_the_judge() -> None:
    class Brief(Judge):
        longest_repr = 3

    violation = Brief().compare("split.cover", 12345, 67890)
    assert violation == Violation("split.cover", "678", "123")
