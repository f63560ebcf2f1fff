"""Parts of a pipeline are checked like streams: verdicts, known failures, the command."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.cli.main import main
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.events import Event, Interrupted, Progress, RunFinished, RunStarted
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.scenarios.check import check_pipeline
from fscontract.contract.spec.clauses import STREAM, Clause, clauses, select
from fscontract.contract.spec.known_failures import Known
from fscontract.fakes.mutants.registry import mutants
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.limits import DEADLOCK

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


def test_a_part_is_judged_by_the_clauses_about_it_alone() -> None:
    """Those of streams are not even mentioned."""
    seen: list[Any] = []
    binding = LocalSplitterBinding()
    result = check_pipeline(binding, select(["seek", "split.base-*"]), listener=seen.append)
    assert {c.clause.id for c in result.clauses} == {
        f"split.base-{name}" for name in ("order", "idle", "missing", "checkpoint")
    }
    assert result.conforms
    assert result.counts == {"scenarios": 4}
    assert [type(event) for event in (seen[0], seen[-1])] == [RunStarted, RunFinished]


def test_a_violation_has_its_scenario() -> None:
    """What was wanted there, and what was seen."""
    result = check_pipeline(MUTANTS["Deaf"], select(["split.trigger"]))
    found = result.clauses[0].counterexample
    assert _outcome(result, "split.trigger") is Verdict.FAIL
    assert found is not None
    assert found.expected == snapshot(("files after the trigger: ['/in/f']",))
    assert found.actual.startswith("[]; A file comes, no time passes")
    assert not result.conforms


def test_a_should_that_is_not_kept_is_lax() -> None:
    """The part conforms all the same."""
    result = check_pipeline(MUTANTS["TakesUnfinished"], select(["split.copying"]))
    assert _outcome(result, "split.copying") is Verdict.LAX


STUCK = [
    (LocalSplitterBinding, "filesystem", "split.scan-first"),
    (ReaderBinding, "reader", "record.final"),
    (TableBinding, "writer", "metadata.files"),
]


@pytest.mark.parametrize(("kind", "call", "clause"), STUCK, ids=[clause for *_, clause in STUCK])
def test_a_scenario_whose_step_exceeds_the_timeout_hangs(
    kind: type[PipelineBinding], call: str, clause: str
) -> None:
    """It is abandoned; other scenarios of its clause are not played."""
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
    assert (found.how, found.expected) == ("scenario: hangs", ("it ends",))
    assert calls == [call]


def test_an_exception_of_the_part_is_a_violation() -> None:
    """Of what the scenario is about."""

    class Refusing(LocalSplitterBinding):
        def finding(self, *arguments: Any) -> Any:
            raise LookupError("no way")

    result = check_pipeline(Refusing(), select(["split.scan-first"]))
    found = result.clauses[0].counterexample
    assert found is not None
    assert found.actual.startswith("LookupError: no way")


def test_known_failures_are_known_until_they_are_gone() -> None:
    """As with streams."""
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
def test_a_run_that_is_interrupted_says_what_it_has_found(
    api: str, binding: PipelineBinding, clause: str
) -> None:
    """The violations stand, and of nothing else it is said that it holds."""
    *_, last = (c for c in clauses().values() if c.api == api and c.testable and c.id != clause)
    result = _interrupted(binding, [clauses()[clause], last])
    assert _outcome(result, clause) in {Verdict.FAIL, Verdict.LAX}
    (other,) = (c for c in result.clauses if c.clause.id == last.id)
    assert (other.outcome, other.reason) == (Verdict.ERROR, "the run was interrupted")
    assert not result.conforms


def _interrupted(binding: PipelineBinding, chosen: Sequence[Clause]) -> RunResult:
    """What a run tells that is interrupted after its last scenario."""
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


def test_it_is_told_how_many_scenarios_were_played() -> None:
    """And how many there are."""
    seen: list[Event] = []
    check_pipeline(LocalSplitterBinding(), select(["split.base-*"]), listener=seen.append)
    assert [(e.done, e.total, e.unit) for e in seen if isinstance(e, Progress)] == [
        (number, 4, "scenario") for number in range(1, 5)
    ]


def test_a_part_of_an_unknown_kind_is_no_target() -> None:
    """There is nothing to judge it by."""

    class Tap(PipelineBinding):
        api = "tap"
        name = "mine"

    with pytest.raises(TargetError, match="mine: there is no check for a tap"):
        check_pipeline(Tap(), select([]))


# the command -------------------------------------------------------------------------------


def _run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, done.output


def test_the_command_checks_a_splitter_and_writes_reports(tmp_path: Path) -> None:
    """By the same options as a stream."""
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
def test_a_target_is_not_checked_by_clauses_about_something_else(
    arguments: tuple[str, ...],
) -> None:
    """Nothing is selected then."""
    assert _run("check", *arguments)[0] == 5


def test_a_filesystem_is_asked_for_where_only_that_will_do() -> None:
    """Known failures are written of streams."""
    code, output = _run("known", "--write", "x.yaml", "splitter", "--reason", "none")
    assert code == 2
    assert "splitter: a splitter, not a filesystem" in output


def test_every_document_about_streams_says_nothing_of_what_it_is_about() -> None:
    """That is the default."""
    assert {c.document for c in clauses().values() if c.api == STREAM} == {
        *("fsdatainputstream", "openfile", "python-file", "faults")
    }


def test_our_block_reader_conforms() -> None:
    """Every clause about one that can be checked is."""
    result = CliRunner().invoke(main, ["check", "blockreader"])
    assert result.exit_code == 0, result.output
    checked = [c for c in clauses().values() if c.api == "blockreader" and c.testable]
    assert f"conforms: {len(checked)} clauses hold" in result.output


def test_a_block_reader_that_breaks_a_clause_does_not_conform() -> None:
    """With what was wanted, and what was seen."""
    result = check_pipeline(_READER.binding(), select([_READER.clause]))
    assert _outcome(result, _READER.clause) in {Verdict.FAIL, Verdict.LAX}
    assert result.clauses[0].counterexample is not None
