"""Parts of a pipeline are checked like streams: verdicts, known failures, the command."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

import fscontract
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.binding import TargetError
from fscontract.contract.cli.main import main
from fscontract.contract.pipeline_bindings import CheckedReader, PipelineBinding, ReaderSettings
from fscontract.contract.runner.crashes import Journal
from fscontract.contract.runner.events import Event, Interrupted, Progress, RunFinished, RunStarted
from fscontract.contract.runner.replay_files import ReplayFiles
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.time_budget import HangTime, TimeBudget
from fscontract.contract.scenarios import check
from fscontract.contract.scenarios.scenario import Harness
from fscontract.contract.spec.clauses import STREAM, Clause, Consequence, clauses, select
from fscontract.contract.spec.known_failures import Known, failures, load_known, write_known
from fscontract.fakes.mutants.registry import mutant_named, mutants
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.limits import DEADLOCK
from tests.pipeline_checks import check_pipeline

MUTANTS = {mutant.name: mutant.binding() for mutant in mutants("splitter")}
_READER, _TABLE = mutants("blockreader")[0], mutants("metadata-table")[0]
#: A part of each kind with a clause that it breaks.
BROKEN = [
    ("splitter", MUTANTS["Deaf"], "split.trigger"),
    ("blockreader", _READER.binding(), _READER.clause),
    ("metadata-table", _TABLE.binding(), _TABLE.clause),
]


def _outcome(result: RunResult, clause: str) -> Verdict:
    return next(c.outcome for c in result.clauses if c.clause.id == clause)


def test_part_of_a_pipeline_is_judged_by_its_own_clauses_only() -> None:
    seen: list[Any] = []
    binding = LocalSplitterBinding()
    result = check_pipeline(binding, select(["seek", "split.base-*"]), listener=seen.append)
    assert {c.clause.id for c in result.clauses} == {
        f"split.base-{name}" for name in ("order", "idle", "missing", "checkpoint")
    }
    assert result.conforms
    assert result.counts == {"scenarios": 4}
    assert [type(event) for event in (seen[0], seen[-1])] == [RunStarted, RunFinished]


def test_violation_has_expected_and_actual_value_and_its_scenario() -> None:
    result = check_pipeline(MUTANTS["Deaf"], select(["split.trigger"]))
    found = result.clauses[0].counterexample
    assert _outcome(result, "split.trigger") is Verdict.FAIL
    assert found is not None
    assert found.expected == snapshot(("files after the trigger: ['/in/f']",))
    actual, _, scenario = found.actual.partition("; ")
    assert (actual, scenario) == snapshot(
        ("[]", "A file is added and no time passes; a scan is triggered, then none.")
    )
    assert not result.conforms


class _LongRecords(ReaderBinding):
    """Readers that return each record many times over."""

    def reader(self, filesystem: FileSystem, settings: ReaderSettings) -> CheckedReader:
        return super().reader(filesystem, replace(settings, converter=lambda data: data * 500))


def test_report_shows_the_beginning_of_a_long_record() -> None:
    (result,) = check_pipeline(_LongRecords(), select(["record.bytes"])).clauses
    assert result.outcome is Verdict.FAIL
    assert all(len(f.actual) < 600 for f in result.counterexamples)
    assert "characters)" in result.counterexamples[0].actual


def test_missed_should_is_lax_and_conforms() -> None:
    result = check_pipeline(MUTANTS["TakesUnfinished"], select(["split.copying"]))
    assert _outcome(result, "split.copying") is Verdict.LAX


STUCK = [
    (LocalSplitterBinding, "filesystem", "split.scan-first"),
    (ReaderBinding, "reader", "record.final"),
    (TableBinding, "writer", "metadata.files"),
]


@pytest.mark.parametrize(("kind", "call", "clause"), STUCK, ids=[clause for *_, clause in STUCK])
def test_scenario_whose_step_exceeds_the_timeout_hangs(
    kind: type[PipelineBinding], call: str, clause: str
) -> None:
    """The other scenarios of its clause are skipped."""
    released, calls = threading.Event(), []

    def hang(*_: Any, **__: Any) -> Any:
        calls.append(call)
        released.wait(DEADLOCK)
        raise AssertionError(call)

    try:
        stuck = type("Stuck", (kind,), {call: hang})()
        result = check_pipeline(stuck, select([clause]), timeout=0.1)
    finally:
        released.set()
    assert _outcome(result, clause) is Verdict.HANG
    found = result.clauses[0].counterexample
    assert found is not None
    assert (found.how, found.expected) == ("scenario: hang", ("it ends",))
    assert [line for line in found.traceback if line.endswith("in hang")]
    assert calls == [call]


def test_hangs_leave_time_for_other_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []

    def hang(*arguments: Any) -> check._Performance[Any]:
        limits.append(arguments[-2].limit)
        return check._Performance(hangs=True)

    monkeypatch.setattr(check, "_perform", hang)
    check_pipeline(LocalSplitterBinding(), select(["split.modified-*"]), timeout=10, budget=20)
    assert limits[:3] == [10, 1, 1]


def test_steps_that_hang_where_others_do_are_left_out_once_the_time_for_hangs_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So scenarios that make other calls are judged in time."""
    monkeypatch.setattr(HangTime, "is_spent", property(lambda hangs: True))
    released = threading.Event()

    class Stuck(ReaderBinding):
        def reader(self, *_: Any) -> Any:
            released.wait(DEADLOCK)
            raise AssertionError("it was released")

    try:
        chosen = select(["record.final", "record.no-phantom", "scale.bounds"])
        result = check_pipeline(Stuck(), chosen, timeout=0.1)
    finally:
        released.set()
    assert _outcome(result, "record.final") is Verdict.HANG
    left_out = result.clauses[1]
    assert (left_out.outcome, left_out.reason) == (Verdict.UNEXERCISED, "out of time")
    assert _outcome(result, "scale.bounds") is Verdict.PASS


@pytest.mark.parametrize(("steps", "seconds"), [(0.01, 0.25), (1.0, 2.0)])
def test_step_where_another_hung_has_the_time_of_the_slowest_that_ended(
    monkeypatch: pytest.MonkeyPatch, steps: float, seconds: float
) -> None:
    monkeypatch.setattr(check, "functions_of", lambda frames: ("stuck",))
    limit = check.StepLimit(TimeBudget(60), 10, Journal())
    harness = Harness()
    harness.longest_step = steps
    for _ in range(2):
        limit.note(check._Performance(harness))
    limit.note(check._Performance(hangs=True, functions=("stuck",)))
    assert limit.seconds(threading.current_thread()) == seconds


@pytest.mark.parametrize("kind", [LookupError, KeyboardInterrupt, SystemExit])
def test_exception_in_a_scenario_violates_its_clause(kind: type[BaseException]) -> None:

    class Refusing(LocalSplitterBinding):
        def finding(self, *arguments: Any) -> Any:
            raise kind("no way")

    result = check_pipeline(Refusing(), select(["split.scan-first", "split.scan-once"]))
    found = result.clauses[0].counterexample
    assert found is not None
    assert found.actual.startswith(f"{kind.__name__}: no way")
    place, line, error = found.traceback
    assert place.endswith("in finding")
    assert (line.strip(), error) == ('raise kind("no way")', f"{kind.__name__}: no way")
    assert [cause.ids for cause in result.causes] == [("split.scan-first", "split.scan-once")]


def test_part_that_leaves_no_room_for_threads_is_a_target_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **named: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(check, "supervise", refuse)
    with pytest.raises(TargetError, match=r"splitter: can't start new thread; \d+ threads are"):
        check_pipeline(LocalSplitterBinding(), select(["split.scan-first"]))


@pytest.mark.parametrize(
    ("name", "another"),
    [
        ("split.modified-whole-OnlyTheEnd", "split.uri-BarePaths"),
        ("split.restored-references-ForgetsUnfinished", "split.uri-BarePaths"),
        ("record.drop-blank-FirstBlankLineStays", "record.shorter-ShorterIsFine"),
    ],
)
def test_random_failures_of_a_known_bug_are_known_with_each_seed(name: str, another: str) -> None:
    mutant = mutant_named(name)
    both = mutant.combined(mutant_named(another))
    assert both is not None
    chosen = select([mutant.document])
    known = failures(check_pipeline(mutant.binding(), chosen), "as in Java")
    codes = [check_pipeline(mutant.binding(), chosen, known, seed=s).exit_code for s in (1, 2, 3)]
    assert codes == [0, 0, 0]
    assert check_pipeline(both.binding(), chosen, known, seed=1).exit_code == 1


def test_splitter_that_fails_everywhere_has_few_items_of_known_failures_and_replay_files(
    tmp_path: Path,
) -> None:
    """One for each clause and each way in which it fails; a second bug still ends a run with 1."""
    mutant, path = mutant_named("split.metadata-first-BlocksFirst"), tmp_path / "known.yaml"
    # This splitter's threads decide which version a block has.
    chosen = [c for c in select([mutant.document]) if c.id != "split.version-kept"]
    replays = ReplayFiles(tmp_path / "replays")
    result = check_pipeline(mutant.binding(), chosen, replays=replays)
    known = write_known(path, result, "as in Java")
    assert len(known) > 350
    assert path.read_text("utf-8").count("- clause:") < 40
    assert len(list(replays.directory.glob("*.json"))) < 40
    assert all(r.counterexample.replay for r in result.clauses if r.counterexample is not None)
    both = mutant.combined(mutant_named("split.uri-BarePaths"))
    assert both is not None
    tried = (mutant.binding(), both.binding())
    codes = [check_pipeline(part, chosen, load_known(path), seed=1).exit_code for part in tried]
    assert codes == [0, 1]


def test_files_of_a_scenario_that_differ_in_the_same_way_are_one_known_failure() -> None:
    result = check_pipeline(MUTANTS["AnyVersion"], select(["split.version-kept"]))
    signatures = [entry.signature for entry in failures(result, "as in Java")]
    assert not any("/in/" in signature for signature in signatures)
    assert len(set(signatures)) == len(signatures) > 1


def test_known_failure_is_known_until_it_is_fixed() -> None:
    clause = "split.trigger"
    shown = check_pipeline(MUTANTS["Deaf"], select([clause])).clauses[0].counterexample
    assert shown is not None
    known = Known(clause, "as in Java", shown.signature)
    seldom = Known(clause, "as in Java", shown.signature, intermittent=True)
    assert _outcome(check_pipeline(MUTANTS["Deaf"], select([clause]), [known]), clause) == "known"
    passed = check_pipeline(LocalSplitterBinding(), select([clause]), [seldom])
    assert _outcome(passed, clause) == "pass"
    fixed = check_pipeline(LocalSplitterBinding(), select([clause]), [known])
    assert _outcome(fixed, clause) == "fixed"


@pytest.mark.parametrize(("api", "binding", "clause"), BROKEN, ids=[kind for kind, *_ in BROKEN])
def test_interrupted_run_reports_its_violations_and_no_passes(
    api: str, binding: PipelineBinding, clause: str
) -> None:
    *_, last = (c for c in clauses().values() if c.api == api and c.testable and c.id != clause)
    result = _interrupted(binding, [clauses()[clause], last])
    assert _outcome(result, clause) in {Verdict.FAIL, Verdict.LAX}
    (other,) = (c for c in result.clauses if c.clause.id == last.id)
    assert (other.outcome, other.reason) == (Verdict.ERROR, "the run was interrupted")
    assert not result.conforms


def _interrupted(binding: PipelineBinding, chosen: Sequence[Clause]) -> RunResult:
    """Return what a run reports that is interrupted after its last scenario."""
    told: list[RunResult] = []

    def listener(event: Event) -> None:
        if isinstance(event, Progress) and event.done == event.total:
            raise KeyboardInterrupt
        if isinstance(event, Interrupted):
            told.append(event.result)

    with pytest.raises(KeyboardInterrupt):
        check_pipeline(binding, chosen, listener=listener)
    (result,) = told
    return result


@pytest.mark.parametrize(("api", "binding"), [broken[:2] for broken in BROKEN])
def test_fail_fast_skips_the_scenarios_after_a_failure(api: str, binding: PipelineBinding) -> None:
    chosen = [c for c in clauses().values() if c.api == api and c.testable]
    result = check_pipeline(binding, chosen, fail_fast=True)
    assert len([c for c in result.clauses if c.counterexamples]) == 1
    skipped = [c.reason for c in result.clauses if c.outcome is Verdict.UNEXERCISED]
    assert len(skipped) == len(chosen) - 1
    assert set(skipped) == {"stopped at the first failure"}


@pytest.mark.parametrize(
    ("gated", "conforms"), [((), False), ((Consequence.DATA,), False), ((Consequence.HANG,), True)]
)
def test_a_failure_fails_the_run_if_its_consequence_does(
    gated: tuple[Consequence, ...], conforms: bool
) -> None:
    result = check_pipeline(MUTANTS["Deaf"], select(["split.trigger"]), fail_on=gated)
    assert (_outcome(result, "split.trigger"), result.conforms) == (Verdict.FAIL, conforms)


def test_fail_fast_passes_over_failures_that_do_not_fail_the_run() -> None:
    chosen = select(["split.trigger", "split.scan-once"])
    result = check_pipeline(MUTANTS["Deaf"], chosen, fail_on=(Consequence.HANG,), fail_fast=True)
    assert {c.outcome for c in result.clauses} == {Verdict.FAIL}


def test_a_profile_says_which_failures_of_a_part_are_known(tmp_path: Path) -> None:
    (failing,) = check_pipeline(MUTANTS["Deaf"], select(["split.trigger"])).clauses
    entries = [
        {"clause": "split.trigger", "reason": "no trigger", "signature": failure.signature}
        for failure in failing.counterexamples
    ]
    profile = tmp_path / "mine.yaml"
    profile.write_text(json.dumps({"name": "mine", "title": "Mine", "known": entries}))
    result = fscontract.check(MUTANTS["Deaf"], profile=str(profile), clauses="split.trigger")
    assert (result.profile, _outcome(result, "split.trigger")) == ("mine", Verdict.KNOWN)


def test_no_scenario_begins_when_the_time_is_over() -> None:
    """Clauses that none has reached are not verified; the report says how many were run."""
    chosen = select(["split.base-*"])
    result = check_pipeline(LocalSplitterBinding(), chosen, budget=1e-9)
    assert [str(share) for share in result.cut_short] == ["scenarios 1 of 4"]
    late = {c.clause.id: c.reason for c in result.clauses if c.outcome is Verdict.UNEXERCISED}
    assert set(late.values()) == {"out of time"}
    assert len(late) < len(chosen)


def test_scenario_whose_steps_are_slow_ends_with_the_time() -> None:
    """It does not hang, since each step ends; only the violations until then count."""

    class Slow(LocalSplitterBinding):
        def finding(self, *arguments: Any) -> Any:
            splitter: Any = super().finding(*arguments)
            begin = splitter.begin_window

            def begin_slowly(number: int) -> None:
                time.sleep(0.1)
                begin(number)

            splitter.begin_window = begin_slowly
            return splitter

    begun = time.monotonic()
    result = check_pipeline(Slow(), select(["split.replay-same"]), budget=1.0)
    assert time.monotonic() - begun < DEADLOCK / 2
    (clause,) = result.clauses
    assert (clause.outcome, clause.reason) == (Verdict.UNEXERCISED, "out of time")
    assert [share.phase for share in result.cut_short] == ["scenarios"]


def test_first_hang_takes_half_of_the_time() -> None:
    """So it is reported although the budget is shorter than the time limit of a step."""
    released = threading.Event()

    class Stuck(LocalSplitterBinding):
        def finding(self, *arguments: Any) -> Any:
            released.wait(DEADLOCK)
            raise AssertionError("it was released")

    try:
        result = check_pipeline(Stuck(), select(["split.trigger"]), budget=0.6, timeout=100)
    finally:
        released.set()
    assert _outcome(result, "split.trigger") is Verdict.HANG


def test_progress_counts_scenarios() -> None:
    seen: list[Event] = []
    check_pipeline(LocalSplitterBinding(), select(["split.base-*"]), listener=seen.append)
    assert [(e.done, e.total, e.unit) for e in seen if isinstance(e, Progress)] == [
        (number, 4, "scenario") for number in range(1, 5)
    ]


def test_part_of_an_unknown_kind_is_a_target_error() -> None:

    class Tap(PipelineBinding):
        api = "tap"
        name = "mine"

    with pytest.raises(TargetError, match=r"^mine: ") as caught:
        check_pipeline(Tap(), select([]))
    assert str(caught.value) == snapshot("mine: there is no check for a tap")


# the command -------------------------------------------------------------------------------


def _run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, done.output


def test_command_checks_a_splitter_and_writes_json(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    code, output = _run("check", "splitter", "--clauses", "split.trigger*", "--json", str(file))
    assert code == 0, output
    assert "conforms: 2 clauses hold" in output
    data = json.loads(file.read_text())
    assert [c["id"] for c in data["clauses"]] == ["split.trigger", "split.trigger-during"]
    assert (data["target"], data["binding"], data["conforms"]) == ("splitter", "splitter", True)


@pytest.mark.parametrize(
    "arguments", [("memory", "--clauses", "split.cover"), ("splitter", "--clauses", "seek")]
)
def test_clauses_about_another_kind_of_target_are_not_selected(
    arguments: tuple[str, ...],
) -> None:
    assert _run("check", *arguments)[0] == 5


_READERS = """
from fscontract.fakes.mutants.registry import mutant_named
known, other = map(mutant_named, ("record.none-lost-StopsAtTheEnd", "record.none-lost-Comments"))
one, fixed = known.binding, mutant_named("scale.idle-FirstOnesGo").binding
both = known.combined(other).binding
"""


def test_known_write_and_prune_keep_the_failures_of_a_block_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate with the written file passes, and fails with a second bug of the same clause."""
    monkeypatch.chdir(tmp_path)
    Path("readers.py").write_text(_READERS)
    chosen = "--clauses", "record.none-lost"
    code, output = _run("known", "--write", "k.yaml", "readers.py:one", "--reason", "one", *chosen)
    assert (code, "added" in output) == (0, True), output
    assert _run("check", "readers.py:one", "--known", "k.yaml", *chosen)[0] == 0
    assert _run("check", "readers.py:both", "--known", "k.yaml", *chosen)[0] == 1
    assert _run("check", "readers.py:fixed", "--known", "k.yaml", *chosen)[0] == 1
    assert _run("known", "--prune", "k.yaml", "readers.py:fixed", *chosen)[0] == 0
    assert load_known(Path("k.yaml")) == ()


def test_documents_without_an_api_are_about_streams() -> None:
    assert {c.document for c in clauses().values() if c.api == STREAM} == {
        *("fsdatainputstream", "openfile", "python-file", "fsspec-filesystem"),
        *(
            "fsspec-async",
            "fsspec-chain",
            "pyarrow-filesystem",
            "obstore-store",
            "opendal-operator",
            "readers",
        ),
        *("faults", "server-faults"),
    }


def test_block_reader_conforms_to_every_testable_clause() -> None:
    result = CliRunner().invoke(main, ["check", "blockreader"])
    assert result.exit_code == 0, result.output
    checked = [c for c in clauses().values() if c.api == "blockreader" and c.testable]
    assert f"conforms: {len(checked)} clauses hold" in result.output


def test_mutant_of_the_block_reader_has_a_counterexample() -> None:
    result = check_pipeline(_READER.binding(), select([_READER.clause]))
    assert _outcome(result, _READER.clause) in {Verdict.FAIL, Verdict.LAX}
    assert result.clauses[0].counterexample is not None
