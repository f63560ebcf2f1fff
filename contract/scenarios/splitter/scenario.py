"""What a scenario is: a play on a bench, and the clauses that it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fscontract.contract.scenarios.splitter.harness import Bench

Play: TypeAlias = Callable[[Bench], None]


@dataclass(frozen=True)
class Scenario:
    """A play. The clauses are those that it wants something of; an error counts for the first."""

    name: str
    clauses: tuple[str, ...]
    play: Play
    #: What happens in it, in one sentence.
    says: str


class Scenarios:
    """Scenarios in the order in which they are written."""

    def __init__(self) -> None:
        self.all: list[Scenario] = []

    def __call__(self, *clauses: str) -> Callable[[Play], Play]:
        """Register a play that speaks of these clauses."""

        def register(play: Play) -> Play:
            says = " ".join((play.__doc__ or "").split())
            self.all.append(Scenario(play.__name__, clauses, play, says))
            return play

        return register
