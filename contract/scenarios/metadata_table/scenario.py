"""What a scenario is: a play on a bench that judges one clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fscontract.contract.scenarios.metadata_table.harness import Bench

Play: TypeAlias = Callable[[Bench], None]


@dataclass(frozen=True)
class Scenario:
    """A play, and the clause that it judges; whatever goes wrong in it breaks that."""

    name: str
    clause: str
    play: Play
    #: What happens in it, in one sentence.
    says: str


class Scenarios:
    """Scenarios in the order in which they are written."""

    def __init__(self) -> None:
        self.all: list[Scenario] = []

    def __call__(self, clause: str) -> Callable[[Play], Play]:
        """Register a play that judges this clause."""

        def register(play: Play) -> Play:
            says = " ".join((play.__doc__ or "").split())
            self.all.append(Scenario(play.__name__, clause, play, says))
            return play

        return register
