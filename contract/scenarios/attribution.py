"""Likely causes of violations: which violated clause explains which others.

A scenario names what it uses of a part: calls, settings, features of files, and what is observed.
A violation explains another one whose scenario uses all that its own does, since that had to fail,
too; and one whose scenario has something in common with its own that makes most scenarios fail.
Fewer have to fail if both observe the same difference, such as fewer files than there should be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias

#: The part of the scenarios with a common feature that have to fail by it, also if the differences
#: are the same.
_MOST, _HALF = 0.8, 0.5
_Uses: TypeAlias = frozenset[str]


class Evidence(NamedTuple):
    """A violation of a clause: the scenario that shows it, what that uses, and the difference.

    The difference is between the actual and the required value; "" if it can't be compared.
    """

    scenario: str
    uses: _Uses
    difference: str = ""


def explanations(
    failed: Mapping[str, Collection[Evidence]], passed: Collection[_Uses]
) -> dict[str, str]:
    """Return for each violated clause the one that explains it; itself if none does.

    `failed` has the violations of each clause, `passed` what each scenario without a violation
    uses. Simple scenarios explain others.
    """
    rates = Rates((one for found in failed.values() for one in found), passed)
    explained: dict[str, str] = {}
    for clause in sorted(failed, key=lambda clause: min(len(e.uses) for e in failed[clause])):
        causes = (cause for cause, own in explained.items() if cause == own)
        explained[clause] = next(
            (cause for cause in causes if rates.explain(failed[cause], failed[clause])), clause
        )
    return explained


class Rates:
    """The parts of the scenarios of a run that fail among those that use something."""

    def __init__(self, failed: Iterable[Evidence], passed: Collection[_Uses]) -> None:
        by_scenario: dict[str, _Uses] = {}
        for one in failed:
            by_scenario[one.scenario] = one.uses | by_scenario.get(one.scenario, frozenset())
        self._failed = list(by_scenario.values())
        self._passed = passed
        self._known: dict[_Uses, float] = {}

    def explain(self, cause: Collection[Evidence], others: Collection[Evidence]) -> bool:
        """Return whether each violation of a clause is explained by one of its possible cause."""
        return all(any(self.explains(own, other) for own in cause) for other in others)

    def explains(self, own: Evidence, other: Evidence) -> bool:
        """Return whether a violation explains another one."""
        common = own.uses & other.uses
        if not common or common == own.uses:
            return bool(common)
        is_same = own.difference == other.difference != ""
        return self._of(common) >= (_HALF if is_same else _MOST)

    def _of(self, uses: _Uses) -> float:
        """Return the part of the scenarios that use all of this and fail."""
        if uses not in self._known:
            failed, passed = (
                sum(uses <= scenario for scenario in scenarios)
                for scenarios in (self._failed, self._passed)
            )
            self._known[uses] = failed / (failed + passed)
        return self._known[uses]
