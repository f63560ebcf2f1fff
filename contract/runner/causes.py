"""Group failures that one defect probably makes.

Failures are of one cause if they share a trait (see `signature.traits`), directly or through other
failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def groups(traits_of_each: Sequence[Iterable[str]]) -> list[list[int]]:
    """Return the numbers of the failures of each cause, in the order of the first failure."""
    parents = list(range(len(traits_of_each)))

    def root(number: int) -> int:
        while parents[number] != number:
            number = parents[number]
        return number

    first_with: dict[str, int] = {}
    for number, found in enumerate(traits_of_each):
        for trait in found:
            one, other = sorted((root(number), root(first_with.setdefault(trait, number))))
            parents[other] = one
    grouped: dict[int, list[int]] = {}
    for number in range(len(parents)):
        grouped.setdefault(root(number), []).append(number)
    return list(grouped.values())
