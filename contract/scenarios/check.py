"""Check a part of a pipeline: run the scenarios of the selected clauses, and judge each clause."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Any, Generic

from fscontract.contract import clock
from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.binding import TargetError
from fscontract.contract.models.violation import Violation
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    MetadataTableBinding,
    PipelineBinding,
    SplitterBinding,
)
from fscontract.contract.program.outcome import clip
from fscontract.contract.runner.crashes import Crash, CurrentScenario, Journal
from fscontract.contract.runner.events import (
    Interrupted,
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
)
from fscontract.contract.runner.replay_files import ReplayFiles
from fscontract.contract.runner.result import (
    FAILED_FAST,
    INTERRUPTED,
    OUT_OF_TIME,
    STOPPED,
    VIOLATED,
    ClauseResult,
    Counterexample,
    PhaseShare,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.sandbox import Sandbox, error_text
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.time_budget import HangTime, TimeBudget
from fscontract.contract.runner.timeouts import Next, supervise
from fscontract.contract.runner.tracebacks import ends_in, frames_of, functions_of, lines_of, shown
from fscontract.contract.runner.verdicts import Seen, outcome_of
from fscontract.contract.scenarios.attribution import Evidence, Rates, explanations
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.scenario import H, Scenario, ScenarioSet
from fscontract.contract.spec.clauses import Clause
from fscontract.contract.spec.known_failures import (
    SCENARIO,
    Known,
    in_scenario,
    match,
)

#: Time limit of a step of a scenario, in seconds.
TIMEOUT = 10.0
#: The most characters of an expected or actual result that are reported.
_LONGEST_TEXT = 400


#: The name of random scenarios, and that in the signatures of their failures.
_RANDOM = "random"
_OF_RANDOM = re.compile(rf"{SCENARIO}{_RANDOM}(;|$)")
#: How a scenario fails, if nothing tells it from another failure of it.
_FAILS = "fails"
#: The part of the time of a run that the first step that hangs may take.
_FIRST_HANG = 0.5


class _Stopped(Exception):
    """Ends a run: with its first failure or after several crashes, as it says, or out of time."""


class _Late(Exception):
    """Ends a scenario when the time of the run is over."""


class Findings:
    """The results of scenarios: for each clause the distinct violations and the first hang."""

    def __init__(self, crashes: Sequence[Crash] = ()) -> None:
        #: The scenarios that ended an earlier process of the run.
        self.crashes = crashes
        #: For each clause its violations, by scenario, kind, difference and extent.
        self.failed: dict[str, dict[tuple[str, ...], Violation]] = {}
        self.hung: dict[str, Violation] = {}
        #: The clauses of which a scenario was left out: it is late where others hang.
        self.left_out: set[str] = set()
        #: For each clause why a scenario of it could not be played.
        self.inexpressible: dict[str, str] = {}
        #: For each clause that a scenario did not reach, the one by which it failed before.
        self.ended_by: dict[str, str] = {}
        #: Number of comparisons that judged each clause.
        self.exercised: Counter[str] = Counter()
        #: What each scenario without a violation used of the part. Random ones, which use more than
        #: they need, tell nothing.
        self.passed: list[frozenset[str]] = []
        #: Number of scenarios that were run.
        self.scenarios = 0

    @property
    def violations(self) -> dict[str, Violation]:
        """The most serious result of each violated clause: a hang, or its first violation."""
        first = {clause: next(iter(found.values())) for clause, found in self.failed.items()}
        return {**first, **self.hung}

    @property
    def explanations(self) -> dict[str, str]:
        """For each violated clause the one that explains it."""
        failed = self._evidence
        for clause, hang in self.hung.items():
            failed.setdefault(clause, []).append(Evidence(hang.scenario, hang.uses))
        return explanations(failed, self.passed)

    @property
    def _evidence(self) -> dict[str, list[Evidence]]:
        return {
            clause: [_evidence(key, violation) for key, violation in found.items()]
            for clause, found in self.failed.items()
        }

    def distinct(self, clause: str) -> dict[tuple[str, ...], Violation]:
        """Return the violations of a clause, of random scenarios only if no other shows it.

        Which random scenarios meet a bug depends on the seed.
        """
        failed = self.failed.get(clause, {})
        return {key: v for key, v in failed.items() if key[0] != _RANDOM} or failed

    def with_random(self, known: Sequence[Known]) -> list[Known]:
        """Return known failures, and an entry for each random failure that one of them explains.

        A bug violates one clause or another in a random scenario, as the seed has it.
        """
        rates = Rates((one for found in self._evidence.values() for one in found), self.passed)
        listed: list[tuple[Known, Evidence]] = []
        random: list[tuple[str, Counterexample, Evidence]] = []
        for clause in self.failed:
            for key, violation in self.distinct(clause).items():
                failure, own = _counterexample(clause, violation, key), _evidence(key, violation)
                entry = match(known, clause, failure, date.today())
                if key[0] == _RANDOM:
                    random.append((clause, failure, own))
                elif entry is not None:
                    listed.append((entry, own))
        explained = [
            replace(entry, clause=clause, signature=failure.signature)
            for clause, failure, own in random
            for entry, cause in listed
            if rates.explains(cause, own)
        ]
        return [
            replace(entry, intermittent=True) if _OF_RANDOM.match(entry.signature) else entry
            for entry in (*known, *explained)
        ]


def _evidence(key: tuple[str, ...], violation: Violation) -> Evidence:
    return Evidence(key[0], violation.uses, violation.difference)


@dataclass
class _Performance(Generic[H]):
    """One run of a scenario, with its exception and a text about that."""

    harness: H | None = None
    error: BaseException | None = None
    text: str = ""
    hangs: bool = False
    #: Whether it is late where others hang, so that it is not judged.
    left_out: bool = False
    #: The functions of the part in which it is late, the innermost last.
    functions: tuple[str, ...] = ()
    #: The lines of the traceback of the exception, or of the place where it hangs.
    traceback: tuple[str, ...] = ()
    #: Whether the time of the run was over before its end.
    late: bool = False


class StepLimit:
    """The time limit of a step: up to the `timeout`, and less after others have hung.

    A step in a function of the part in which another one hung has the least time; once the time for
    hangs is spent, it is left out then, and not judged: it may be slow. The `journal` has the limit
    for the process that waits for this one.
    """

    def __init__(self, time: TimeBudget, timeout: float, journal: Journal) -> None:
        self._hangs = HangTime(time.seconds, timeout)
        self._usual = min(timeout, _FIRST_HANG * time.seconds)
        self._functions: set[str] = set()
        self._journal = journal
        journal.limit = self._usual

    def seconds(self, thread: threading.Thread) -> float:
        """Return how many seconds the step that runs in this thread may take."""
        limit = self._usual
        if self._functions and ends_in(self._functions, functions_of(frames_of(thread))):
            limit = self._hangs.limit(where_others_hang=True)
        self._journal.limit = limit
        return limit

    def leaves_out(self, functions: tuple[str, ...]) -> bool:
        """Return whether a late step in these functions is not judged."""
        return self._hangs.is_spent and ends_in(self._functions, functions)

    def note(self, performance: _Performance[Any]) -> None:
        """Note how long the steps of a scenario took, or where one of them is late."""
        if performance.hangs or performance.left_out:
            self._hangs.spend(self._journal.limit)
            self._functions.update(performance.functions[-1:])
            self._usual = self._journal.limit = self._hangs.limit()
        elif performance.harness is not None:
            self._hangs.note(performance.harness.longest_step, 1)


def scenarios_of(binding: PipelineBinding) -> ScenarioSet[Any]:
    """Return the scenarios of parts of this kind; TargetError if there are none."""
    if isinstance(binding, SplitterBinding):
        from fscontract.contract.scenarios import splitter

        return splitter.SCENARIOS
    if isinstance(binding, BlockReaderBinding):
        from fscontract.contract.scenarios import blockreader

        return blockreader.SCENARIOS
    if isinstance(binding, MetadataTableBinding):
        from fscontract.contract.scenarios import metadata_table

        return metadata_table.SCENARIOS
    raise TargetError(f"{binding.name}: there is no check for a {binding.api}")


def find_violations(
    binding: PipelineBinding,
    clauses: Collection[str],
    timeout: float = TIMEOUT,
    effort: str = "quick",
) -> Findings:
    """Run the scenarios that judge one of these clauses, and return everything they show."""
    findings = Findings()
    play(findings, binding, clauses, timeout, effort=effort)
    return findings


def check_reader(
    binding: BlockReaderBinding, clauses: Collection[str] | None = None
) -> dict[str, Violation]:
    """Return the first violation of each clause that a block reader violates, by clause.

    All clauses that can be checked are selected by default. A scenario that hangs violates its
    clause.
    """
    selected = scenarios_of(binding).clauses if clauses is None else clauses
    violations = find_violations(binding, selected).violations
    return {clause: violation for clause, violation in violations.items() if clause in selected}


def play(
    findings: Findings,
    binding: PipelineBinding,
    clauses: Collection[str],
    timeout: float,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    time: TimeBudget | None = None,
    journal: Journal | None = None,
    effort: str = "quick",
    seed: int = 0,
) -> None:
    """Run the scenarios of these clauses, and add the results to the findings.

    Random scenarios follow the others: their number depends on the effort, their calls on the seed.

    A scenario hangs if one of its steps takes more than `timeout` seconds, or less after others
    have hung, so that they leave time. It is then abandoned, and other scenarios are skipped if all
    clauses that they judge have hung, as are those that ended an earlier process. A scenario that
    runs when the `time` is over is abandoned, too; only its violations count. The `journal` has the
    scenario that runs.
    """
    kit, time, journal = scenarios_of(binding), time or TimeBudget(), journal or Journal()
    scenarios = [*kit.selected(clauses), *kit.selected_random(clauses, effort, seed)]
    limit = StepLimit(time, timeout, journal)
    ended = {crash.counterexample.identity for crash in findings.crashes}
    for number, scenario in enumerate(scenarios, 1):
        late, ended_clauses = False, findings.hung.keys() | findings.left_out
        hung = ended_clauses and not kit.judges(scenario, {*clauses} - ended_clauses)
        if not hung and f"scenario: {scenario.name}" not in ended:
            performance = play_one(findings, binding, kit, scenario, time, journal, limit)
            late = performance.late
            limit.note(performance)
            if performance.left_out:
                findings.left_out.add(scenario.charged)
        journal.done = number - late
        on_progress(number - late, len(scenarios))
        if late:
            break
    journal.begin(None)


def play_one(
    findings: Findings,
    binding: PipelineBinding,
    kit: ScenarioSet[H],
    scenario: Scenario[H],
    time: TimeBudget,
    journal: Journal,
    limit: StepLimit,
) -> _Performance[H]:
    """Run a scenario with this limit for its steps, and add its result to the findings."""
    journal.begin(CurrentScenario(scenario.name, scenario.charged, scenario.label))
    performance = _perform(binding, kit, scenario, time, journal, limit)
    _judge(findings, kit, scenario, performance)
    return performance


def _perform(
    binding: PipelineBinding,
    kit: ScenarioSet[H],
    scenario: Scenario[H],
    time: TimeBudget,
    journal: Journal,
    limit: StepLimit,
) -> _Performance[H]:
    """Run a scenario in a thread with this limit for its steps, until the time is over."""
    performance: _Performance[H] = _Performance()

    def tick() -> None:
        journal.beats += 1
        if time.is_over:
            raise _Late

    def perform(scenario: Scenario[H]) -> None:
        try:
            performance.harness = harness = kit.harness(binding, scenario.charged)
            try:
                scenario.play(harness)
            finally:
                harness.close()
        except BaseException as error:  # a part under test may raise anything
            performance.error = error
            # in this thread, where a KeyboardInterrupt is the part's
            performance.text = _described(error)
            performance.traceback = shown(error)

    def on_late(thread: threading.Thread) -> None:
        frames = frames_of(thread)
        performance.traceback, performance.functions = lines_of(frames), functions_of(frames)

    def on_hang(item: object, times: int) -> Next:
        performance.left_out = limit.leaves_out(performance.functions)
        performance.hangs = not performance.left_out
        return Next.END

    try:
        journal.beats += 1
        supervise(iter([scenario]), perform, limit.seconds, on_hang, tick, on_late=on_late)
    except _Late:
        performance.late = True
    except RuntimeError as error:
        threads = f"{threading.active_count()} threads are running"
        raise TargetError(f"{binding.name}: {error}; {threads}") from error
    finally:
        journal.beats = 0
    return performance


def _judge(
    findings: Findings, kit: ScenarioSet[H], scenario: Scenario[H], performance: _Performance[H]
) -> None:
    """Add the result of a scenario to the findings."""
    findings.scenarios += not (performance.late or performance.left_out)
    harness, error = performance.harness, performance.error
    name = scenario.description if kit.described or scenario.detail else ""
    uses = frozenset[str]() if harness is None else harness.uses
    violations = [] if harness is None else list(harness.violations)
    if harness is not None:
        findings.exercised.update(harness.exercised)
    if performance.hangs:
        hang = Violation(
            scenario.charged,
            "it ends",
            "still running",
            name,
            scenario.label,
            uses=uses,
            traceback=performance.traceback,
        )
        findings.hung.setdefault(scenario.charged, hang)
    elif performance.late or performance.left_out:
        pass  # an exception may come from its interruption
    elif isinstance(error, UnsupportedOperationException) and not violations:
        findings.inexpressible.setdefault(scenario.charged, performance.text)
    elif error is not None and not violations:
        expected = "no exception" if name else scenario.description
        kind = type(error).__name__
        trace = performance.traceback
        raised = Violation(scenario.charged, expected, performance.text, kind=kind, traceback=trace)
        if harness is not None and harness.uses:
            harness.record(raised)  # an exception ends an observation of what was used
            violations = harness.violations
        else:
            violations = [raised]
    elif harness is not None and not violations and not scenario.detail:
        findings.passed.append(harness.uses | harness.observations)
    for clause in scenario.clauses if violations else ():
        findings.ended_by.setdefault(clause, violations[0].clause)
    head = f"{scenario.detail}: " if scenario.detail else ""
    for violation in violations:
        distinct = findings.failed.setdefault(violation.clause, {})
        expected = f"{head}{violation.expected}"
        named = replace(violation, scenario=name, label=scenario.label, expected=expected)
        key: tuple[str, ...] = (scenario.name, violation.kind)
        if not scenario.detail:  # other random scenarios may differ in another way
            key += (violation.difference, violation.extent)
        if key not in distinct or len(named.uses) < len(distinct[key].uses):
            distinct[key] = named  # the simplest one explains the most


def _described(error: BaseException) -> str:
    if isinstance(error, Killed):
        return "it continued after its process had crashed"
    return error_text(error)


def check_pipeline(
    binding: PipelineBinding,
    settings: Settings,
    listener: Listener = lambda event: None,
    journal: Journal | None = None,
) -> RunResult:
    """Check a part of a pipeline by those clauses of the settings that are about such parts.

    The run ends after the budget, or with the program of `until`; clauses that no scenario has
    reached by then are unexercised. The effort is the number of random scenarios, whose calls
    depend on the seed. The `journal` has the scenario that runs, and the crashes of the settings
    are those that ended earlier processes of the run. Raise TargetError if there is no check for
    parts of its kind.
    """
    selected = tuple(c for c in settings.clauses if c.api == binding.api and c.testable)
    settings = replace(settings, clauses=selected)
    findings, time = Findings(settings.crashes), TimeBudget(settings.budget)
    run = _Run(binding, settings, findings, time, listener)
    try:
        return run.finished(
            partial(
                play,
                findings,
                binding,
                settings.selected,
                settings.timeout,
                run.on_progress,
                time,
                journal,
                settings.effort,
                settings.seed,
            )
        )
    finally:
        run.sandbox.close()


@dataclass
class _Run:
    """A run on a part of a pipeline, whose results go into `findings`."""

    binding: PipelineBinding
    settings: Settings
    findings: Findings
    time: TimeBudget
    listener: Listener
    sandbox: Sandbox = field(default_factory=Sandbox)
    started: datetime = field(default_factory=clock.now)
    cut_short: list[PhaseShare] = field(default_factory=list)

    def finished(self, playing: Callable[[], None]) -> RunResult:
        """Play the scenarios, and return the result."""
        self.listener(self.settings.started(self.binding))
        self.listener(PhaseStarted("scenarios", None))
        stopped = ""
        try:
            playing()
        except _Stopped as ended:
            stopped = str(ended)
        except KeyboardInterrupt:
            self.sandbox.restore()
            lost = self._shown(self.result(lost=INTERRUPTED))
            lost = replace(lost, incomplete=INTERRUPTED)
            self.listener(Interrupted(lost))
            raise
        self.sandbox.restore()
        finished = self._shown(self.result(stopped=stopped), is_complete=not stopped)
        self.listener(RunFinished(finished))
        return finished

    def _shown(self, result: RunResult, is_complete: bool = False) -> RunResult:
        """Write the scripts and the replay files of the failures.

        Replay files that a complete run outdates are removed.
        """
        result = self._scripted(result)
        replays, settings = self.settings.replays, self.settings
        if replays is None:
            return result
        context = {
            "target": result.target,
            "binding": result.binding,
            "seed": settings.seed,
            "effort": settings.effort,
        }
        written = tuple(_written(replays, clause, context) for clause in result.clauses)
        if is_complete and not self.cut_short:
            replays.remove_outdated(written, context)
        return replace(result, clauses=written)

    def _scripted(self, result: RunResult) -> RunResult:
        """Return the result with the scripts of failures, if the source of the part is known."""
        source, seed = self.settings.source, self.settings.seed
        if source is None:
            return result
        from fscontract.contract.script.scenarios import scripted

        kit = scenarios_of(self.binding)
        clauses = (scripted(c, self.binding, source, kit, seed) for c in result.clauses)
        return replace(result, clauses=tuple(clauses))

    def on_progress(self, done: int, total: int) -> None:
        """Report a scenario; raise _Stopped if it is the last one that may run."""
        self.sandbox.patches.undo()
        self.listener(Progress("scenarios", done, total, 0, unit="scenario"))
        if done >= total:
            return
        if self.settings.fail_fast and self._fails():
            raise _Stopped(FAILED_FAST)
        if self.settings.until is not None and self.settings.until[1] <= done:
            raise _Stopped(f"{STOPPED} after {len(self.findings.crashes)} crashes")
        if self.time.is_over:
            self.cut_short.append(PhaseShare("scenarios", done, total))
            raise _Stopped

    def _fails(self) -> bool:
        result = self.result()
        return any(c.outcome in VIOLATED and result.gates(c) for c in result.clauses)

    def result(self, lost: str = "", stopped: str = "") -> RunResult:
        """Return the result so far; the arguments are those of a verdict."""
        name, findings, settings = self.binding.name, self.findings, self.settings
        causes, late = findings.explanations, bool(self.cut_short)
        known = findings.with_random(settings.known_of(name))
        return RunResult(
            target=name,
            binding=self.binding.api,
            profile=settings.profile.name,
            effort=settings.effort,
            seed=settings.seed,
            started=self.started,
            seconds=self.time.spent,
            clauses=tuple(
                _verdict(c, findings, known, lost, stopped, late, causes.get(c.id, ""))
                for c in settings.clauses
            ),
            fail_on=settings.fail_on,
            counts={"scenarios": findings.scenarios} if findings.scenarios else {},
            warnings=self.sandbox.patches.warnings,
            cut_short=tuple(self.cut_short),
        )


def _verdict(
    clause: Clause,
    findings: Findings,
    known: Sequence[Known],
    lost: str,
    stopped: str,
    out_of_time: bool,
    cause: str,
) -> ClauseResult:
    """Return the outcome of a clause.

    `lost` and `stopped` say why scenarios were not run: lost, or left out because of a failure.
    `cause` is the clause that explains its violations.
    """
    hung = findings.hung.get(clause.id)
    exercised = findings.exercised[clause.id]
    crashes = [crash for crash in findings.crashes if crash.clause == clause.id]
    out_of_time = out_of_time or clause.id in findings.left_out
    seen = Seen(
        exercised or len(crashes),
        crashed=tuple(crash.counterexample for crash in crashes if not crash.hung),
        hung=(
            *(() if hung is None else (_counterexample(clause.id, hung, cause=cause),)),
            *(crash.counterexample for crash in crashes if crash.hung),
        ),
        failed=tuple(
            _counterexample(clause.id, violation, key, cause)
            for key, violation in findings.distinct(clause.id).items()
        ),
        unverified=_unverified(clause.id, findings, stopped, out_of_time),
        lost=lost,
    )
    ended_early = out_of_time or bool(stopped)
    return outcome_of(clause, seen, known, date.today(), ended_early=ended_early)


def _written(
    replays: ReplayFiles, result: ClauseResult, context: Mapping[str, Any]
) -> ClauseResult:
    """Write a replay file for each way in which a clause fails: that of the first scenario."""
    failures, firsts = list(result.counterexamples), dict[str, int]()
    for number, failure in enumerate(failures):
        firsts.setdefault(in_scenario(failure.signature)[1], number)
    chosen = result.showing([failures[number] for number in firsts.values()])
    written = replays.written(chosen, context).counterexamples
    for number, failure in zip(firsts.values(), written, strict=True):
        failures[number] = failure
    return result.showing(failures)


def _unverified(
    clause: str, findings: Findings, stopped: str, out_of_time: bool
) -> tuple[Verdict, str] | None:
    """Return why a clause that no scenario violated is not verified, None if it is."""
    if stopped:
        return Verdict.UNEXERCISED, stopped
    if findings.exercised[clause]:
        return None
    if clause in findings.inexpressible:
        return Verdict.INEXPRESSIBLE, findings.inexpressible[clause]
    if out_of_time:
        return Verdict.UNEXERCISED, OUT_OF_TIME
    ended = findings.ended_by.get(clause)
    why = f": one failed by {ended} before" if ended is not None else ""
    return Verdict.UNEXERCISED, f"no scenario reached it{why}"


def _counterexample(
    clause: str, violation: Violation, key: tuple[str, ...] = ("",), cause: str = ""
) -> Counterexample:
    """Return a violation as a counterexample; `key` tells it from others, "" for one that hangs."""
    how = (violation.scenario or clause) if key[0] else Verdict.HANG.value
    result = clip(violation.actual, _LONGEST_TEXT)  # records may have any length
    actual = "; ".join(part for part in (result, violation.scenario) if part)
    differs = tuple(filter(None, key[1:])) or (_FAILS,)
    identity = "; ".join((f"{SCENARIO}{key[0]}", *differs)) if key[0] else ""
    is_error = violation.actual.partition(":")[0] == violation.kind != ""
    error = (re.sub(r"\d+", "N", violation.actual),) if is_error else ()
    return Counterexample(
        None,
        (clip(violation.expected, _LONGEST_TEXT),),
        actual,
        how=f"scenario: {how}",
        identity=identity,
        traits=(f"cause: {cause}", *error),
        scenario=violation.label,
        traceback=violation.traceback,
    )
