"""Scenarios of a part of a pipeline, and the harness that drives and judges it.

A scenario is a function of a harness. It is registered with the clauses that it judges, sets up
files, drives the part through its port, and compares its observations with the requirement of a
clause. Only a comparison exercises a clause; running a scenario does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Generic, NoReturn, TypeVar, cast

from fscontract.contract import clock
from fscontract.contract.models.violation import Judge, Violation
from fscontract.contract.runner.timeouts import beat
from fscontract.contract.spec.clauses import clauses

#: The random scenarios of each effort.
RANDOM = {"quick": 20, "normal": 500, "deep": 10_000}


#: What a scenario uses of a part if it uses anything.
_USUAL = "the usual"


class Violated(AssertionError):
    """Ends a scenario at a violation."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(
            f"{violation.clause}: expected {violation.expected}, got {violation.actual}"
        )
        self.violation = violation


P = TypeVar("P")


class _Noted:
    """An object of a part; `note` gets the name of each attribute that is used."""

    def __init__(self, part: Any, note: Callable[[str], None]) -> None:
        self._part = part
        self._note = note

    def __getattr__(self, name: str) -> Any:
        self._note(name)
        return getattr(self._part, name)


class Harness(Judge):
    """Drives one part of a pipeline in one scenario, and judges its behaviour.

    `clause` is judged unless another one is named. Harnesses of the kinds of parts derive from it.
    """

    #: True if a scenario continues after a violation, because it judges several clauses.
    collects: ClassVar[bool] = False
    #: Calls and settings of nearly every scenario, which tell none from another.
    usual: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, clause: str = "") -> None:
        super().__init__()
        self.clause = clause
        #: The clause whose violation ends the scenario; "" for none.
        self.raises = ""
        self._used: set[str] = set()
        self._since = clock.monotonic()
        #: The seconds of the longest step until now.
        self.longest_step = 0.0
        #: What was observed of the part, right or wrong.
        self.observations: set[str] = set()

    @property
    def uses(self) -> frozenset[str]:
        """The calls, settings and features of files that the scenario has used of the part."""
        return frozenset({_USUAL, *self._used} - self.usual if self._used else ())

    def use(self, *names: str) -> None:
        """Note that the scenario uses something of the part."""
        self._used.update(names)

    def noted(self, part: P) -> P:
        """Return an object of the part whose calls are noted as used."""
        return cast(P, _Noted(part, self.use))

    def record(self, violation: Violation) -> None:
        """Add a violation, with what has been used and observed until now.

        The observations of earlier violations belong to it, since those may be its cause.
        """
        observed = self.observed(violation.clause, violation.kind)
        self.use(*observed)
        difference = violation.difference and " ".join((*observed, violation.difference))
        uses = violation.uses | self.uses
        super().record(replace(violation, uses=uses, difference=difference))
        if violation.clause == self.raises:
            raise Violated(violation)

    def observed(self, clause: str, what: str) -> tuple[str, ...]:
        """Return what a comparison for a clause observes of the part, each in a word."""
        return ("results",)

    def compare(
        self, clause: str, actual: object, expected: object, what: str = ""
    ) -> Violation | None:
        """Compare two values, and note what that observes."""
        self.observations.update(self.observed(clause, what))
        return super().compare(clause, actual, expected, what)

    def step(self) -> None:
        """Restart the time limit: it applies to each step of a scenario."""
        now = clock.monotonic()
        self.longest_step, self._since = max(self.longest_step, now - self._since), now
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

    def fail(
        self, expected: str, actual: str, clause: str = "", kind: str = "", difference: str = ""
    ) -> NoReturn:
        """End the scenario with a violation."""
        violation = Violation(
            clause or self.clause, expected, actual, kind=kind, difference=difference
        )
        self.record(violation)
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
    #: The calls of a random scenario, and its number and seed.
    detail: str = ""
    #: Its number among those of its name, from 1 if it is random; 0 for the only or the first one.
    number: int = 0

    @property
    def label(self) -> str:
        """Its name and number, which play it again, with the seed if it is random."""
        return f"{self.name} {self.number}" if self.number else self.name


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
    scenario descriptions are sentences, and counterexamples include them. `random` makes a random
    scenario.
    """

    harness: Callable[[Any, str], H]
    scenarios: tuple[Scenario[H], ...]
    random: Callable[[Random], Scenario[H]] | None = None
    model: str = ""
    described: bool = False

    @property
    def clauses(self) -> frozenset[str]:
        """The clauses that scenarios judge explicitly."""
        return frozenset(clause for scenario in self.scenarios for clause in scenario.clauses)

    def selected(self, ids: Collection[str]) -> list[Scenario[H]]:
        """Return the scenarios that judge one of these clauses."""
        return [s for s in self.scenarios if self.judges(s, ids)]

    def selected_random(
        self, ids: Collection[str], effort: str, seed: int
    ) -> Iterator[Scenario[H]]:
        """Yield the random scenarios of an effort and a seed that judge one of these clauses."""
        for number in range(1, RANDOM[effort] + 1) if self.random is not None else ():
            made = self.numbered(number, seed)
            if self.judges(made, ids):
                yield made

    def numbered(self, number: int, seed: int) -> Scenario[H]:
        """Return the random scenario of a number, from 1, and a seed; LookupError."""
        if self.random is None or number < 1:
            raise LookupError(f"random {number}")
        made = replace(self.random(Random(f"{seed} {number}")), number=number)
        return replace(made, detail=f"{made.label} of seed {seed}, {made.detail}")

    def labelled(self, label: str, seed: int) -> Scenario[H]:
        """Return the scenario of a label; LookupError if there is none."""
        random = re.fullmatch(r"random (\d{1,9})", label)
        if random is not None:
            return self.numbered(int(random[1]), seed)
        for scenario in self.scenarios:
            if scenario.label == label:
                return scenario
        raise LookupError(label)

    def judges(self, scenario: Scenario[H], ids: Collection[str]) -> bool:
        """Return whether the scenario, or the model in it, judges one of the clauses."""
        known = clauses()
        of_model = any(self.model in known[clause].checks for clause in ids if clause in known)
        return of_model or not {*scenario.clauses}.isdisjoint(ids)
