"""Scenarios of a part of a pipeline, and the harness that drives and judges it.

A scenario is a function of a harness. It is registered with the clauses that it judges, sets up
files, drives the part through its port, and compares its observations with the requirement of a
clause. Only a comparison exercises a clause; running a scenario does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

from fscontract.contract.models.violation import Judge, Violation
from fscontract.contract.runner.timeouts import beat
from fscontract.contract.spec.clauses import clauses


class Violated(Exception):
    """Ends a scenario at a violation."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(
            f"{violation.clause}: expected {violation.expected}, got {violation.actual}"
        )
        self.violation = violation


class Harness(Judge):
    """Drives one part of a pipeline in one scenario, and judges its behaviour.

    `clause` is judged unless another one is named. Harnesses of the kinds of parts derive from it.
    """

    #: True if a scenario continues after a violation, because it judges several clauses.
    collects: ClassVar[bool] = False

    def __init__(self, clause: str = "") -> None:
        super().__init__()
        self.clause = clause

    def step(self) -> None:
        """Restart the time limit: it applies to each step of a scenario."""
        beat(self)

    def judged(self, clause: str = "") -> None:
        """Count one comparison that judged a clause."""
        self.exercised[clause or self.clause] += 1
        self.step()

    def expect(self, actual: object, expected: object, what: str = "", clause: str = "") -> None:
        """Judge a clause by the equality of two values."""
        self.step()
        violation = self.compare(clause or self.clause, actual, expected, what)
        if violation is not None and not self.collects:
            raise Violated(violation)

    def fail(self, expected: str, actual: str, clause: str = "", kind: str = "") -> NoReturn:
        """End the scenario with a violation."""
        violation = Violation(clause or self.clause, expected, actual, kind=kind)
        self.violations.append(violation)
        raise Violated(violation)

    def close(self) -> None:
        """Release the resources of the scenario."""


H = TypeVar("H", bound=Harness)


@dataclass(frozen=True)
class Scenario(Generic[H]):
    """A function of a harness, and the clauses that it judges explicitly.

    Exceptions and steps that hang are charged to the clause `charged`.
    """

    name: str
    clauses: tuple[str, ...]
    charged: str
    play: Callable[[H], None]
    #: Its condition, in one sentence.
    description: str


class Scenarios(Generic[H]):
    """Registers the scenarios of a module, in source order."""

    def __init__(self) -> None:
        self.all: list[Scenario[H]] = []

    def __call__(
        self, *clauses: str, charged: str = ""
    ) -> Callable[[Callable[[H], None]], Callable[[H], None]]:
        """Register a function that judges these clauses; the first one is charged by default."""

        def register(play: Callable[[H], None]) -> Callable[[H], None]:
            description = " ".join((play.__doc__ or "").split())
            name = play.__name__
            self.all.append(Scenario(name, clauses, charged or clauses[0], play, description))
            return play

        return register


@dataclass(frozen=True)
class ScenarioSet(Generic[H]):
    """All scenarios of one part of a pipeline.

    `harness` makes the harness of a scenario from a binding and the charged clause. `model` is the
    name of the check of those clauses that a model judges in every scenario. If `described`,
    scenario descriptions are sentences, and counterexamples include them.
    """

    harness: Callable[[Any, str], H]
    scenarios: tuple[Scenario[H], ...]
    model: str = ""
    described: bool = False

    @property
    def clauses(self) -> frozenset[str]:
        """The clauses that scenarios judge explicitly."""
        return frozenset(clause for scenario in self.scenarios for clause in scenario.clauses)

    def selected(self, ids: Collection[str]) -> list[Scenario[H]]:
        """Return the scenarios that judge one of these clauses."""
        known = clauses()
        if any(self.model in known[clause].checks for clause in ids if clause in known):
            return list(self.scenarios)
        return [s for s in self.scenarios if not {*s.clauses}.isdisjoint(ids)]
