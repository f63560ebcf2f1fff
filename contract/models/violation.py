"""Violations of clauses, and a judge that compares observed values with required ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Violation:
    """A violated clause: what it permits, what was observed, and in which scenario, if named.

    `kind` tells it from other violations of the clause: the compared value, or an exception. `uses`
    names what the scenario had used of the part by then: calls, settings and features of files.
    `label` is what plays the scenario again. `difference` is how the actual value differs from the
    required one, in a word, and `extent` says with which sizes of blocks, if the scenario has
    several. `traceback` has the lines of an exception's, or of the place where it hangs.
    """

    clause: str
    expected: str
    actual: str
    scenario: str = ""
    label: str = ""
    kind: str = ""
    uses: frozenset[str] = frozenset()
    difference: str = ""
    extent: str = ""
    traceback: tuple[str, ...] = ()


def difference_of(actual: object, expected: object) -> str:
    """Return how a value differs from the required one: less, more, both, cut, or in its order.

    Return "" if the values have nothing in common by which they can be compared.
    """
    if isinstance(actual, bool) and isinstance(expected, bool):
        return "not so"
    if isinstance(actual, int | float) and isinstance(expected, int | float):
        return "less" if actual < expected else "more"
    if isinstance(actual, bytes) and isinstance(expected, bytes):
        return "cut" if expected.startswith(actual) or expected.endswith(actual) else ""
    if isinstance(actual, _SEVERAL) and isinstance(expected, _SEVERAL):
        found, required = (Counter(map(repr, _items(value))) for value in (actual, expected))
        lacks, exceeds = bool(required - found), bool(found - required)
        return (
            " and ".join(w for w, is_so in (("less", lacks), ("more", exceeds)) if is_so) or "order"
        )
    return ""


#: Values that have items.
_SEVERAL = (list, tuple, set, frozenset, dict)


def _items(value: object) -> Iterator[object]:
    """Yield the innermost items of a value."""
    if isinstance(value, dict):
        yield from ((key, item) for key, inner in value.items() for item in _items(inner))
    elif isinstance(value, _SEVERAL):
        for inner in value:
            yield from _items(inner)
    else:
        yield value


class Judge:
    """Collect the violations of clauses, and count the comparisons for each clause."""

    #: The most characters of a value that a violation shows; None for all.
    longest_repr: ClassVar[int | None] = None
    #: What does not tell one compared value from another.
    data: ClassVar[re.Pattern[str]] = re.compile(r"\d+")

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
        violation = Violation(
            clause,
            head + required,
            observed,
            kind=self.data.sub("N", what),
            difference=difference_of(actual, expected),
        )
        self.record(violation)
        return violation

    def record(self, violation: Violation) -> None:
        """Add a violation."""
        self.violations.append(violation)
