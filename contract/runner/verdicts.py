"""Give each clause its outcome, for streams and for the parts of a pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache
from types import MappingProxyType
from typing import Any

from fscontract.contract.binding import Binding
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.models.openfile_clauses import TOLD_BY
from fscontract.contract.program.open_calls import SCENES
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.counterexamples import Counterexamples
from fscontract.contract.runner.result import (
    NOT_THERE,
    OUT_OF_TIME,
    UNCOUNTED,
    VIOLATED,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.settings import Settings
from fscontract.contract.script.calls import NoScript
from fscontract.contract.script.failure import failure_of
from fscontract.contract.script.languages import default_language, script
from fscontract.contract.spec.clauses import Clause, Level, clauses
from fscontract.contract.spec.inherited_failures import inherits
from fscontract.contract.spec.known_failures import Known, match, outdated
from fscontract.contract.spec.profiles import Profile

#: Levels whose violation is a failure.
_BINDING = frozenset({Level.MUST, Level.UNSPECIFIED})


@dataclass(frozen=True)
class Seen:
    """The results of a run for one clause.

    `unverified` is the outcome, with its reason, of a clause without a violation that can't be said
    to hold; None if it holds. `lost` names programs that were not run, if any. `unsaid` are the
    calls that the API does not support.
    """

    exercised: int = 0
    crashed: tuple[Counterexample, ...] = ()
    hung: tuple[Counterexample, ...] = ()
    failed: tuple[Counterexample, ...] = ()
    missed: tuple[Counterexample, ...] = ()
    unverified: tuple[Verdict, str] | None = None
    lost: str = ""
    unsaid: frozenset[str] = frozenset()

    def violations(self, binds: bool) -> list[tuple[Verdict, Counterexample]]:
        """Return the distinct failures, the worst first; those of a clause that `binds` fail."""
        failed = [(binds or f.how in (UNCOUNTED, NOT_THERE), f) for f in self.failed]
        return [
            *((Verdict.CRASH, failure) for failure in self.crashed),
            *((Verdict.HANG, failure) for failure in self.hung),
            *((Verdict.FAIL, failure) for fails, failure in failed if fails),
            *((Verdict.LAX, failure) for fails, failure in failed if not fails),
            *((Verdict.LAX, failure) for failure in self.missed),
        ]


def outcome_of(
    clause: Clause,
    seen: Seen,
    listed: Iterable[Known],
    today: date,
    *,
    ended_early: bool = False,
    sources: Mapping[str, frozenset[str]] = MappingProxyType({}),
    has_budget: bool = False,
) -> ClauseResult:
    """Return the clause's result; `listed` are the known failures of the target.

    An entry turns the failure that it lists into a known one; a clause is known if each of its
    failures is. A SHOULD that is missed stays lax, and the entry explains it. An entry whose
    failure did not occur makes a clause that was judged "fixed", unless one that is not listed did,
    or the run was `ended_early`.

    A failure that is known of a base class among `sources` is inherited, unless an entry lists it.
    A SHOULD fails if the profile sets its budget.
    """
    listed = tuple(listed)

    def explained(failure: Counterexample) -> Counterexample:
        entry = match(listed, clause.id, failure, today)
        if entry is not None:
            return replace(failure, known=entry.reason, issue=entry.issue)
        known = inherits(clause, failure, sources)
        if known is None:
            return failure
        return replace(failure, inherited=known.reason, issue=known.finding)

    binds = has_budget or clause.level in _BINDING
    violations = [(v, explained(failure)) for v, failure in seen.violations(binds)]
    if not violations:
        if seen.lost:
            return ClauseResult(clause, Verdict.ERROR, seen.exercised, reason=seen.lost)
        if seen.unverified is not None:
            outcome, reason = seen.unverified
            return ClauseResult(clause, outcome, reason=reason)
        result = ClauseResult(clause, Verdict.PASS, seen.exercised)
        return result if ended_early else _unless_fixed(result, listed, seen.unsaid)
    failing = [v for v in violations if v[0] in VIOLATED] or violations
    (outcome, first), *rest = sorted(failing, key=lambda v: _rank(v[1]))
    others = tuple(failure for _, failure in rest)
    result = ClauseResult(clause, outcome, seen.exercised, first, others=others)
    if first.known:
        outcome = Verdict.KNOWN if outcome in VIOLATED else outcome
        result = replace(result, outcome=outcome, reason=first.known, issue=first.issue)
    elif first.inherited and outcome in VIOLATED:
        inherited, finding = first.inherited, first.issue
        result = replace(result, outcome=Verdict.INHERITED, reason=inherited, issue=finding)
    if seen.lost or outcome in VIOLATED or ended_early:
        return result
    return _unless_fixed(result, listed, seen.unsaid)


def _rank(failure: Counterexample) -> int:
    """Return the order of failures: those of the target itself first."""
    return 2 if failure.known else 1 if failure.inherited else 0


def _unless_fixed(
    result: ClauseResult, listed: Iterable[Known], unsaid: frozenset[str]
) -> ClauseResult:
    """Return the result, or that one of these entries lists a failure that did not occur.

    The program of an entry can't show it where one of its calls is not supported.
    """
    possible = (entry for entry in listed if unsaid.isdisjoint(map(str, _steps(entry))))
    gone = outdated(possible, result.clause.id, result.counterexamples)
    return replace(result, outcome=Verdict.FIXED, reason=gone, issue="") if gone else result


def _steps(entry: Known) -> tuple[Step, ...]:
    return () if entry.program is None else entry.program.steps


@dataclass(frozen=True)
class Evidence:
    """The evidence of a run."""

    counterexamples: Counterexamples
    #: Number of calls that each clause judged.
    exercised: Counter[str]
    #: Calls that the API does not support, and the clauses that they would have exercised.
    unsaid: frozenset[str]
    #: Clauses that calls lost to the network or the set-up could have exercised.
    unanswered: Set[str]
    #: The reason why threads were not checked completely, if any.
    notes: str = ""
    #: The missing parts of the run, so that no clause holds; "" if none are.
    lost: str = ""
    #: Special reasons why clauses were not exercised.
    reasons: Mapping[str, str] = field(default_factory=dict)
    #: Whether the time was over before the last program.
    out_of_time: bool = False
    #: The classes of other packages that define what each operation calls.
    sources: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Why the settings ended the run before the last program, "" if they did not.
    stopped: str = ""
    #: Why the target ended the run before the last program, "" if it did not.
    ended: str = ""


def sum_up(
    binding: Binding,
    settings: Settings,
    evidence: Evidence,
    started: datetime,
    seconds: float,
    counts: dict[str, int],
) -> RunResult:
    """Return the result of the run; write the replay files if the settings name a directory."""
    context = {
        "target": binding.name,
        "binding": binding.api,
        "profile": settings.profile.name,
        "features": sorted(settings.profile.features),
        "buffer": settings.buffer(binding),
        "seed": settings.seed,
        "effort": settings.effort,
    }
    results = tuple(_judge(c, binding, settings, evidence, context) for c in settings.clauses)
    is_complete = not (evidence.lost or evidence.stopped or evidence.out_of_time)
    if is_complete and not evidence.unanswered:
        results = _promises_kept(results, binding, settings)
    if settings.replays is not None and is_complete:
        faults = settings.faults is not None or settings.server_faults
        settings.replays.remove_outdated(results, context, faults)
    return RunResult(
        target=binding.name,
        binding=binding.api,
        profile=settings.profile.name,
        effort=settings.effort,
        seed=settings.seed,
        started=started,
        seconds=seconds,
        clauses=results,
        counts=counts,
        versions=dict(getattr(binding, "versions", {})),
        buffer=settings.buffer(binding),
        fail_on=settings.fail_on,
        sizes=() if binding.fixed_content is None else (len(binding.fixed_content),),
    )


def _judge(
    clause: Clause,
    binding: Binding,
    settings: Settings,
    evidence: Evidence,
    context: dict[str, Any],
) -> ClauseResult:
    unmet = settings.profile.satisfies(clause.needs)
    if unmet:
        reason = ", ".join(_unmet(need, settings.profile) for need in unmet)
        return ClauseResult(clause, Verdict.UNDECLARED, reason=reason)
    counterexamples = evidence.counterexamples
    seen = Seen(
        evidence.exercised[clause.id],
        unverified=_unverified(clause, binding, settings, evidence),
        lost=evidence.lost,
        unsaid=evidence.unsaid,
        **counterexamples.of(clause.id),
    )
    listed = settings.known_of(binding.name)
    result = outcome_of(
        clause,
        seen,
        listed,
        date.today(),
        ended_early=evidence.out_of_time or bool(evidence.stopped),
        sources=evidence.sources,
        has_budget=clause.id in settings.profile.budgets,
    )
    failures = [_spelled(f, binding, settings) for f in result.counterexamples]
    failures = [scripted(clause.id, f, binding, settings) for f in failures]
    result = result.showing(failures)
    return result if settings.replays is None else settings.replays.written(result, context)


def _promises_kept(
    results: tuple[ClauseResult, ...], binding: Binding, settings: Settings
) -> tuple[ClauseResult, ...]:
    """Return the results, in which a feature that is declared and not there fails.

    That is one which the user declares, and none of whose clauses could be judged. The first of
    them fails, preferably a MUST.
    """
    changed = {}
    for feature in sorted(settings.profile.promised):
        own = [r for r in results if feature in r.clause.needs and r.clause.testable]
        silent = [r for r in own if r.outcome is Verdict.INEXPRESSIBLE]
        if len(own) < _needing(feature, frozenset(r.clause.document for r in own)):
            continue  # others are not selected
        if not silent or any(r.outcome not in _SILENT for r in own):
            continue
        result = min(silent, key=lambda r: r.clause.level is not Level.MUST)
        expected = (f"the target has what it declares: {feature}",)
        actual = f"{NOT_THERE}: {result.reason}"
        failure = Counterexample(None, expected, actual, how=NOT_THERE)
        listed = settings.known_of(binding.name)
        changed[result.clause.id] = outcome_of(
            result.clause, Seen(failed=(failure,)), listed, date.today()
        )
    return tuple(changed.get(r.clause.id, r) for r in results)


@cache
def _needing(feature: str, documents: frozenset[str]) -> int:
    """Return the number of testable clauses of documents that need the feature."""
    every = clauses().values()
    return sum(c.testable and c.document in documents and feature in c.needs for c in every)


#: The outcomes of clauses that no call has judged.
_SILENT = frozenset({Verdict.INEXPRESSIBLE, Verdict.UNDECLARED})


def _spelled(failure: Counterexample, binding: Binding, settings: Settings) -> Counterexample:
    """Return the counterexample with its program as calls of the API."""
    if failure.program is None:
        return failure
    content = binding.fixed_content
    length = failure.program.length if content is None else len(content)
    calls = binding.spell(resolve_program(failure.program, length, settings.buffer(binding)))
    return replace(failure, calls="" if calls == str(failure.program) else calls)


def scripted(
    clause: str, failure: Counterexample, binding: Binding, settings: Settings
) -> Counterexample:
    """Return the counterexample with its script, if its target and program have one."""
    if settings.source is None or (failure.program is None and failure.threads is None):
        return failure
    try:
        shown_by = failure.program or Schedule.from_json(failure.threads or {})
        buffer = settings.buffer(binding)
        shown = replace(
            failure_of(shown_by, clause, binding, settings.profile, buffer),
            before=failure.before,
            hangs=failure.hangs,
            intermittent=failure.intermittent,
        )
        text = script(default_language(binding), binding, settings.source, shown)
        return replace(failure, script=text)
    except NoScript as error:
        reason = str(error)
    except Exception as error:  # a verdict does not depend on its script
        reason = f"fscontract can't write it: {error!r}"
    return replace(failure, script="", no_script=reason)


def _unmet(need: str, profile: Profile) -> str:
    if need.startswith("!"):
        return f"only without {need[1:]}"
    return f"not {'observed' if need in profile.observed else 'declared'}: {need}"


def _unverified(
    clause: Clause, binding: Binding, settings: Settings, evidence: Evidence
) -> tuple[Verdict, str] | None:
    """Return the reason why a clause can't be said to hold, None if it can."""
    counterexamples = evidence.counterexamples
    shadow = counterexamples.shadowed.get(clause.id)
    by = counterexamples.unheld.get(clause.id)
    if evidence.stopped:
        return Verdict.UNEXERCISED, evidence.stopped
    if by is not None:
        return Verdict.UNEXERCISED, f"its own example fails by {by}, which this run does not judge"
    if evidence.exercised[clause.id] and (shadow is None or shadow != TOLD_BY.get(clause.id)):
        return None
    return _unreached(clause, binding, settings, evidence)


def _unopened(clause: Clause, binding: Binding, evidence: Evidence) -> str:
    """Return what the target lacks for a clause of opens with options, "" if nothing."""
    opener = binding.opener
    if opener is None:
        return f"the {binding.api} API has no builder"
    if clause.id in evidence.unsaid:
        return f"the {binding.api} API reports no such I/O statistics"
    for scene in (c.removeprefix("openfile.") for c in clause.checks):
        if scene in SCENES and scene not in opener.scenes:
            return f"a path can't be made {scene} here"
        if scene in ("status", "stale") and not opener.statuses:
            return "the builder takes no status"
    return ""


def _unreached(
    clause: Clause, binding: Binding, settings: Settings, evidence: Evidence
) -> tuple[Verdict, str]:
    """Return the outcome and the reason of a clause that no call was judged by."""
    if any(c.startswith(("openfile.", "cost.")) for c in clause.checks):
        missing = _unopened(clause, binding, evidence)
        if missing:
            return Verdict.INEXPRESSIBLE, missing
    operations = settings.operations(binding)
    models = [c.removeprefix("model.") for c in clause.checks if c.startswith("model.")]
    silent = models and not any(op in operations or op == "open" for op in models)
    lacking = [binding.lacks[op] for op in models if op in binding.lacks]
    if silent and lacking:
        return Verdict.INEXPRESSIBLE, lacking[0]
    if silent or clause.id in evidence.unsaid:
        return Verdict.INEXPRESSIBLE, f"the {binding.api} API has no such call"
    if clause.id in evidence.unanswered:
        return Verdict.ERROR, evidence.ended or "calls failed with connection errors"
    if any(c.startswith("consistency.") for c in clause.checks) and not binding.changes:
        return Verdict.INEXPRESSIBLE, "the binding can't change a file under an open stream"
    shadow = evidence.counterexamples.shadowed.get(clause.id)
    unreached = OUT_OF_TIME if evidence.out_of_time else "no program reached it"
    reason = evidence.reasons.get(clause.id, unreached)
    reason = f"its calls fail by {shadow} already" if shadow else reason
    if evidence.notes and any(c.startswith("concurrency.") for c in clause.checks):
        reason = evidence.notes
    return Verdict.UNEXERCISED, reason
