"""Checks of the parts of a pipeline: which there are, and how their verdicts become a result."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone

from fscontract.contract.binding import TargetError
from fscontract.contract.clauses import Clause, Level
from fscontract.contract.known import Known, match
from fscontract.contract.metadataport import MetadataTableBinding
from fscontract.contract.pipelineports import PipelineBinding, SplitterBinding
from fscontract.contract.readerport import BlockReaderBinding
from fscontract.contract.suite.events import Listener, PhaseStarted, RunFinished, RunStarted
from fscontract.contract.suite.result import (
    SHOWN,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)


@dataclass(frozen=True)
class Shown:
    """A clause that is broken: in which scenario, if it has a name, what was wanted, what seen."""

    clause: str
    scenario: str
    expected: str
    actual: str


class Findings:
    """What was found about the clauses `wanted`: for each the first that breaks it."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.wanted = wanted
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
    started, clock = datetime.now(timezone.utc), time.monotonic()
    chosen = tuple(c for c in clauses if c.api == binding.api and c.testable)
    listener(RunStarted(binding.name, binding.api, "none", "quick", 0))
    listener(PhaseStarted("scenarios", None))
    findings = _findings(binding, frozenset(c.id for c in chosen), timeout)
    result = RunResult(
        target=binding.name,
        binding=binding.api,
        profile="none",
        effort="quick",
        seed=0,
        started=started,
        seconds=time.monotonic() - clock,
        clauses=tuple(_verdict(c, findings, known, binding.name) for c in chosen),
        counts=dict(findings.counts),
    )
    listener(RunFinished(result))
    return result


def _findings(binding: PipelineBinding, wanted: frozenset[str], timeout: float) -> Findings:
    if isinstance(binding, SplitterBinding):
        from fscontract.contract.suite.splitter.check import check_splitter

        return check_splitter(binding, wanted, timeout)
    if isinstance(binding, BlockReaderBinding):
        return _of_reader(binding, wanted)
    if isinstance(binding, MetadataTableBinding):
        return _of_table(binding, wanted)
    raise TargetError(f"{binding.name}: there is no check for a {binding.api}")


def _of_reader(binding: BlockReaderBinding, wanted: frozenset[str]) -> Findings:
    from fscontract.contract.suite.blockreader.check import CHECKED, check_reader

    findings = Findings(wanted)
    for clause, broken in check_reader(binding, wanted).items():
        findings.fail(Shown(clause, "", broken.expected, broken.actual))
    findings.exercised.update(CHECKED & wanted)
    return findings


def _of_table(binding: MetadataTableBinding, wanted: frozenset[str]) -> Findings:
    from fscontract.contract.suite.metadatatable.check import CHECKED, check_table

    findings = Findings(wanted)
    for clause, broken in check_table(binding, wanted).items():
        findings.fail(Shown(clause, "", broken.expected, broken.actual))
    findings.exercised.update(CHECKED & wanted)
    return findings


def _verdict(
    clause: Clause, findings: Findings, known: Sequence[Known], target: str
) -> ClauseResult:
    exercised = findings.exercised[clause.id]
    hung, failed = findings.hung.get(clause.id), findings.failed.get(clause.id)
    shown = hung or failed
    listed = [k for k in known if k.clause == clause.id and k.applies_to(target)]
    if shown is None:
        if not exercised:
            reason = "no scenario reached it"
            return ClauseResult(clause, Verdict.UNEXERCISED, reason=reason)
        if listed:
            reason = f"listed as known ({listed[0].reason}), but it did not fail"
            return ClauseResult(clause, Verdict.FIXED, exercised, reason=reason)
        return ClauseResult(clause, Verdict.PASS, exercised)
    outcome = Verdict.FAIL if clause.level is not Level.SHOULD else Verdict.LAX
    found = Counterexample(
        None,
        (shown.expected,),
        "; ".join(part for part in (shown.actual, shown.scenario) if part),
        how=f"scenario: {'hangs' if hung else shown.scenario or clause.id}",
    )
    outcome = Verdict.HANG if hung else outcome
    entry = match(listed, clause.id, found, date.today())
    if entry is not None and outcome in SHOWN:
        return ClauseResult(clause, Verdict.KNOWN, exercised, found, entry.reason, entry.issue)
    return ClauseResult(clause, outcome, exercised, found)
