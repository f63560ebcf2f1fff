"""Checks of the parts of a pipeline: which there are, and how their verdicts become a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from fscontract.contract import clock
from fscontract.contract.binding import TargetError
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    MetadataTableBinding,
    PipelineBinding,
    SplitterBinding,
)
from fscontract.contract.runner.events import (
    Interrupted,
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
)
from fscontract.contract.runner.result import (
    INTERRUPTED,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.sandbox import Sandbox
from fscontract.contract.runner.verdicts import Seen, outcome_of
from fscontract.contract.spec.clauses import Clause
from fscontract.contract.spec.known_failures import Known


class Broken(Protocol):
    """A clause that a part breaks, as its check tells it."""

    @property
    def clause(self) -> str:
        """Its id."""

    @property
    def expected(self) -> str:
        """What was wanted."""

    @property
    def actual(self) -> str:
        """What was seen."""


@dataclass(frozen=True)
class Shown:
    """A clause that is broken: in which scenario, if it has a name, what was wanted, what seen."""

    clause: str
    scenario: str
    expected: str
    actual: str


class Findings:
    """What was found about the clauses `wanted`: for each the first that breaks it."""

    def __init__(
        self, wanted: frozenset[str], beat: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        self.wanted = wanted
        #: Is told how many scenarios were played, and how many there are.
        self.beat = beat
        self.failed: dict[str, Shown] = {}
        self.hung: dict[str, Shown] = {}
        self.exercised: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def fail(self, shown: Shown) -> None:
        """Keep what breaks a clause."""
        if shown.clause in self.wanted:
            self.failed.setdefault(shown.clause, shown)

    def hang(self, shown: Shown) -> None:
        """Keep what does not end."""
        if shown.clause in self.wanted:
            self.hung.setdefault(shown.clause, shown)


def check_pipeline(
    binding: PipelineBinding,
    clauses: Sequence[Clause],
    known: Sequence[Known] = (),
    timeout: float = 10.0,
    listener: Listener = lambda event: None,
) -> RunResult:
    """Check a part of a pipeline by those of the clauses that are about such a part.

    TargetError if there is no check for parts of its kind.
    """
    sandbox = Sandbox()
    try:
        return _checked(binding, clauses, known, timeout, listener, sandbox)
    finally:
        sandbox.close()


def _checked(
    binding: PipelineBinding,
    clauses: Sequence[Clause],
    known: Sequence[Known],
    timeout: float,
    listener: Listener,
    sandbox: Sandbox,
) -> RunResult:
    started, begun = clock.now(), clock.monotonic()
    chosen = tuple(c for c in clauses if c.api == binding.api and c.testable)
    listener(RunStarted(binding.name, binding.api, "none", "quick", 0, len(chosen)))
    listener(PhaseStarted("scenarios", None))
    findings = Findings(frozenset(c.id for c in chosen), _Telling(listener, sandbox))

    def result(lost: str = "") -> RunResult:
        return RunResult(
            target=binding.name,
            binding=binding.api,
            profile="none",
            effort="quick",
            seed=0,
            started=started,
            seconds=clock.monotonic() - begun,
            clauses=tuple(_verdict(c, findings, known, binding.name, lost) for c in chosen),
            counts=dict(findings.counts),
            warnings=sandbox.patches.warnings,
        )

    try:
        _find(findings, binding, timeout)
    except KeyboardInterrupt:
        sandbox.restore()
        listener(Interrupted(replace(result(INTERRUPTED), incomplete=INTERRUPTED)))
        raise
    sandbox.restore()
    found = result()
    listener(RunFinished(found))
    return found


@dataclass(frozen=True)
class _Telling:
    """Tells a listener how many scenarios were played; puts back what one has patched."""

    listener: Listener
    sandbox: Sandbox

    def __call__(self, done: int, total: int) -> None:
        self.sandbox.patches.undo()
        self.listener(Progress("scenarios", done, total, 0, unit="scenario"))


def _find(findings: Findings, binding: PipelineBinding, timeout: float) -> None:
    """Play the scenarios of what the binding binds; after an exception the findings stand."""
    if isinstance(binding, SplitterBinding):
        from fscontract.contract.scenarios.splitter.check import play_all, scenarios_of

        play_all(findings, binding, scenarios_of(findings.wanted), timeout)
    elif isinstance(binding, BlockReaderBinding):
        from fscontract.contract.scenarios.blockreader import check as readers

        _fill(findings, readers.findings(binding, findings.wanted, findings.beat), readers.CHECKED)
    elif isinstance(binding, MetadataTableBinding):
        from fscontract.contract.scenarios.metadata_table import check as tables

        _fill(findings, tables.findings(binding, findings.wanted, findings.beat), tables.CHECKED)
    else:
        raise TargetError(f"{binding.name}: there is no check for a {binding.api}")


def _fill(findings: Findings, found: Iterable[Broken], checked: frozenset[str]) -> None:
    for broken in found:
        findings.fail(Shown(broken.clause, "", broken.expected, broken.actual))
    findings.exercised.update(checked & findings.wanted)


def _verdict(
    clause: Clause, findings: Findings, known: Sequence[Known], target: str, lost: str
) -> ClauseResult:
    """Return its outcome; `lost` says why some scenarios were not played, if so."""
    hung, failed = findings.hung.get(clause.id), findings.failed.get(clause.id)
    exercised = findings.exercised[clause.id]
    seen = Seen(
        exercised,
        hung=None if hung is None else _counterexample(hung, "hangs"),
        failed=None if failed is None else _counterexample(failed, failed.scenario or clause.id),
        unverified=None if exercised else (Verdict.UNEXERCISED, "no scenario reached it"),
        lost=lost,
    )
    listed = [k for k in known if k.clause == clause.id and k.applies_to(target)]
    return outcome_of(clause, seen, listed, date.today())


def _counterexample(shown: Shown, how: str) -> Counterexample:
    actual = "; ".join(part for part in (shown.actual, shown.scenario) if part)
    return Counterexample(None, (shown.expected,), actual, how=f"scenario: {how}")
