"""Likely causes of violations: which violated clause explains which others.

A scenario names what it uses of a part: calls, settings, features of files, and what is observed.
A violation explains another one whose scenario uses all that its own does, since that had to fail,
too; and one whose scenario has something in common with its own that no scenario without a
violation uses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

_Uses = Collection[frozenset[str]]


def explanations(failed: Mapping[str, _Uses], passed: _Uses) -> dict[str, str]:
    """Return for each violated clause the one that explains it; itself if none does.

    `failed` has what each scenario uses that shows a violation of a clause, `passed` the same of
    those without a violation. Simple scenarios explain others.
    """
    explained: dict[str, str] = {}
    for clause in sorted(failed, key=lambda clause: min(map(len, failed[clause]))):
        causes = (cause for cause, own in explained.items() if cause == own)
        explained[clause] = next(
            (cause for cause in causes if _explains(failed[cause], failed[clause], passed)), clause
        )
    return explained


def _explains(cause: _Uses, others: _Uses, passed: _Uses) -> bool:
    return all(any(_is_part(used, other, passed) for used in cause) for other in others)


def _is_part(used: frozenset[str], other: frozenset[str], passed: _Uses) -> bool:
    """Return whether all that is used, or what never passed of it, is a part of the other."""
    common = used & other
    return bool(common) and (common == used or not any(common <= uses for uses in passed))
