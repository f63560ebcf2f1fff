"""Violations of clauses, and a judge that compares observed values with required ones."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Violation:
    """A violated clause: what it permits, what was observed, and in which scenario, if named.

    `kind` tells it from other violations of the clause: the compared value, or an exception. `uses`
    names what the scenario had used of the part by then: calls, settings and features of files.
    """

    clause: str
    expected: str
    actual: str
    scenario: str = ""
    kind: str = ""
    uses: frozenset[str] = frozenset()


class Judge:
    """Collect the violations of clauses, and count the comparisons for each clause."""

    #: The most characters of a value that a violation shows; None for all.
    longest_repr: ClassVar[int | None] = None

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self.exercised: Counter[str] = Counter()

    def compare(
        self, clause: str, actual: object, expected: object, what: str = ""
    ) -> Violation | None:
        """Compare two values; return the violation of the clause if they differ."""
        self.exercised[clause] += 1
        if actual == expected:
            return None
        head = f"{what}: " if what else ""
        required, observed = (repr(v)[: self.longest_repr] for v in (expected, actual))
        violation = Violation(clause, head + required, observed, kind=_DIGITS.sub("N", what))
        self.record(violation)
        return violation

    def record(self, violation: Violation) -> None:
        """Add a violation."""
        self.violations.append(violation)
