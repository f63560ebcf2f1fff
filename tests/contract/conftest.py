"""Results and a runner made to measure, for tests of what consumes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeAlias

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner import runner
from fscontract.contract.runner.events import Listener, PhaseStarted, RunFinished, RunStarted
from fscontract.contract.runner.result import (
    VIOLATED,
    ClauseResult,
    Counterexample,
    PhaseShare,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import Clause, Level
from tests.few_programs import run_few, run_few_in_commands

MakeResult: TypeAlias = Callable[..., ClauseResult]
MakeRun: TypeAlias = Callable[..., RunResult]

#: A target that needs no filesystem, since no program is run on it.
TARGET = dedent(
    """
    from fscontract.contract.binding import Binding, TargetError

    class Stub(Binding):
        api = "stub"
        name = "stub"
        operations = frozenset({"seek"})
        disposed = []

        def prepare(self): pass
        def create(self, content): return "/f"
        def open(self, path): return None
        def bind(self, step): return lambda opened: None
        def dispose(self): self.disposed.append(1)

    class Other(Stub):
        name = "other"

    class Broken(Stub):
        name = "broken"
        def prepare(self): raise TargetError("broken: no way in")

    def fails(): raise RuntimeError("nothing here")
    def number(): return 7
    """
)


def example(actual: str = "returned", **more: Any) -> Counterexample:
    """A failed seek."""
    program = Program(3, (Step("seek", (2,)), Step("seek", (-1,))))
    values: dict[str, Any] = {"program": program, "expected": ("EOF", "IO"), "actual": actual}
    return Counterexample(**{**values, "step": 2, **more})


@pytest.fixture
def make_result() -> MakeResult:
    """A factory of results of single clauses that no document has."""

    def make(
        outcome: Verdict = Verdict.PASS,
        name: str = "demo.one",
        level: Level = Level.MUST,
        reason: str = "",
        **more: Any,
    ) -> ClauseResult:
        statement = f"What {name} says."
        clause = Clause(name, level, "Demo.one()", statement, "demo", because="Readers stop.")
        shown = outcome in VIOLATED | {Verdict.LAX, Verdict.KNOWN}
        found = example(**more) if shown else None
        return ClauseResult(clause, outcome, 3, found, reason)

    return make


@pytest.fixture
def make_run() -> MakeRun:
    """A factory of runs of these results."""

    def make(*results: ClauseResult, target: str = "memory", incomplete: str = "") -> RunResult:
        started = datetime(2026, 5, 4, 3, 2, 1, tzinfo=timezone.utc)
        return RunResult(
            target=target,
            binding="stream",
            profile="default",
            effort="quick",
            seed=7,
            started=started,
            seconds=1.25,
            clauses=results,
            counts={"programs": 12, "operations": 40},
            versions={"demo": "1.0"},
            incomplete=incomplete,
        )

    return make


@dataclass
class FakeSuite:
    """Stands in for the runner: every clause passes, save those in `outcomes`."""

    outcomes: dict[str, Verdict] = field(default_factory=dict)
    #: Those of clauses that a run selects alone, instead.
    outcomes_alone: dict[str, Verdict] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    runs: list[Settings] = field(default_factory=list)
    interrupt: bool = False
    warnings: tuple[str, ...] = ()
    cut_short: tuple[PhaseShare, ...] = ()

    def check(
        self, binding: Binding, settings: Settings, listener: Listener = lambda event: None
    ) -> RunResult:
        """Return the result of `runner.check`, without running a program."""
        self.runs.append(settings)
        profile, effort, seed = settings.profile.name, settings.effort, settings.seed
        listener(RunStarted(binding.name, binding.api, profile, effort, seed))
        listener(PhaseStarted("exhaustive", 3))
        try:
            binding.prepare()
            if self.interrupt:
                raise KeyboardInterrupt
        finally:
            binding.dispose()
        of_one = self.outcomes_alone if len(settings.clauses) == 1 else {}
        found = tuple(self._judge(c, {**self.outcomes, **of_one}) for c in settings.clauses)
        now = datetime(2026, 5, 4, tzinfo=timezone.utc)
        result = RunResult(binding.name, binding.api, profile, effort, seed, now, 0.5, found)
        result = replace(result, warnings=self.warnings, cut_short=self.cut_short)
        listener(RunFinished(result))
        return result

    def _judge(self, clause: Clause, outcomes: dict[str, Verdict]) -> ClauseResult:
        outcome = outcomes.get(clause.id, Verdict.PASS)
        bad = outcome in VIOLATED | {Verdict.LAX, Verdict.KNOWN}
        reason = "" if outcome in VIOLATED else self.reasons.get(clause.id, "")
        return ClauseResult(clause, outcome, 1, example() if bad else None, reason)


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> FakeSuite:
    """The runner replaced by a FakeSuite."""
    fake = FakeSuite()
    monkeypatch.setattr(runner, "check", fake.check)
    return fake


@pytest.fixture
def stub_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A target, `stubs.py:Stub`, in an empty current directory."""
    (tmp_path / "stubs.py").write_text(TARGET)
    monkeypatch.chdir(tmp_path)
    return "stubs.py:Stub"


@pytest.fixture(autouse=True)
def _few_programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs at quick have fewer programs and schedules, in other processes, too.

    Tests that need all of them have the mark `all_programs`.
    """
    if request.node.get_closest_marker("all_programs"):
        return
    run_few(monkeypatch)
    run_few_in_commands(monkeypatch)
