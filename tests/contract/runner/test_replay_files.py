"""Tests of contract/runner/replay_files.py: what runs keep in `.fscontract`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fscontract.contract.runner.replay_files import (
    LastRuns,
    load_last_runs,
    make_directory,
    remove_outdated,
    replays_in,
    save_last_runs,
    write_replay,
)
from fscontract.contract.runner.result import ClauseResult, Verdict
from fscontract.contract.spec.clauses import clauses
from tests.contract.conftest import example

CONTEXT: dict[str, Any] = {"target": "memory", "effort": "normal", "seed": 0, "features": ["a"]}
Judge: TypeAlias = Callable[..., ClauseResult]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a directory that has the replay file of a failure of seek.negative."""
    place = tmp_path / ".fscontract"
    write_replay(place, "seek.negative", example(), CONTEXT)
    return place


def judged(outcome: Verdict, name: str = "seek.negative", **more: Any) -> ClauseResult:
    failure = example(**more) if outcome in (Verdict.FAIL, Verdict.KNOWN) else None
    return ClauseResult(clauses()[name], outcome, 3, failure)


def test_the_directory_ignores_itself_in_git(directory: Path) -> None:
    assert (directory / ".gitignore").read_text() == "*\n"
    (directory / ".gitignore").write_text("*.json\n")
    make_directory(directory)
    assert (directory / ".gitignore").read_text() == "*.json\n"


def test_a_failure_that_is_gone_loses_its_file(directory: Path) -> None:
    (directory / "metadata.json").write_text("{}")
    remove_outdated(directory, [judged(Verdict.PASS)], CONTEXT, faults=False)
    assert replays_in(directory) == []
    assert (directory / "metadata.json").exists()


def test_a_clause_that_fails_otherwise_loses_the_file_of_the_old_failure(directory: Path) -> None:
    (old,) = replays_in(directory)
    failure = write_replay(directory, "seek.negative", example(), {**CONTEXT, "seed": 1})
    result = judged(Verdict.FAIL, replay=failure.replay)
    remove_outdated(directory, [result], CONTEXT, faults=False)
    assert [str(path) for path in replays_in(directory)] == [failure.replay]
    assert old not in replays_in(directory)


@pytest.mark.parametrize("outcome", [Verdict.UNEXERCISED, Verdict.UNDECLARED, Verdict.ERROR])
def test_the_file_of_a_clause_that_was_not_judged_stays(directory: Path, outcome: Verdict) -> None:
    remove_outdated(directory, [judged(outcome)], CONTEXT, faults=False)
    remove_outdated(directory, [judged(Verdict.PASS, "seek.zero")], CONTEXT, faults=False)
    assert len(replays_in(directory)) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"target": "local"},
        {"effort": "quick"},
        {"seed": 1},
        {"features": []},
        {"options": ["key"]},
        {"selection": {"clauses": ["seek"]}},
    ],
    ids=str,
)
def test_a_run_that_does_not_try_the_same_leaves_the_file(
    directory: Path, changed: dict[str, Any]
) -> None:
    remove_outdated(directory, [judged(Verdict.PASS)], {**CONTEXT, **changed}, faults=False)
    assert len(replays_in(directory)) == 1


def test_a_run_that_tries_more_removes_the_file(tmp_path: Path) -> None:
    selection = {"selection": {"clauses": ["seek"]}}
    write_replay(tmp_path, "seek.negative", example(), {**CONTEXT, **selection})
    remove_outdated(tmp_path, [judged(Verdict.PASS)], {**CONTEXT, "effort": "deep"}, faults=False)
    assert replays_in(tmp_path) == []


def test_a_program_with_faults_is_left_by_a_run_without(directory: Path) -> None:
    (path,) = replays_in(directory)
    data = json.loads(path.read_text())
    data["program"]["faults"] = []
    path.write_text(json.dumps(data))
    remove_outdated(directory, [judged(Verdict.PASS)], CONTEXT, faults=False)
    assert replays_in(directory) == [path]
    remove_outdated(directory, [judged(Verdict.PASS)], CONTEXT, faults=True)
    assert replays_in(directory) == []


def test_efforts_share_the_file_of_a_failure(directory: Path) -> None:
    again = write_replay(directory, "seek.negative", example(), {**CONTEXT, "effort": "quick"})
    assert [str(path) for path in replays_in(directory)] == [again.replay]


def test_a_record_has_what_failed_and_the_files_of_the_last_command(tmp_path: Path) -> None:
    runs = LastRuns()
    failed = judged(Verdict.FAIL, replay=".fscontract/seek.negative-0123456789ab.json")
    runs.take("memory", [failed, judged(Verdict.PASS, "seek.zero")])
    save_last_runs(runs, tmp_path)
    assert load_last_runs(tmp_path) == runs
    assert runs.failed_of("memory") == {"seek.negative"}
    assert runs.failed_of("local") == set()
    assert runs.replays == ["seek.negative-0123456789ab.json"]


def test_a_failure_counts_until_a_run_judges_its_clause() -> None:
    runs = LastRuns({"memory": ["seek.negative", "seek.zero"]})
    runs.take("memory", [judged(Verdict.UNEXERCISED)])
    assert runs.failed_of("memory") == {"seek.negative", "seek.zero"}
    runs.take("memory", [judged(Verdict.KNOWN), judged(Verdict.UNDECLARED, "seek.zero")])
    assert runs.failed_of("memory") == set()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"failed": {}}', '{"failed": {"a": 1}}'])
def test_a_damaged_record_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "last-runs").write_text(text)
    assert load_last_runs(tmp_path) == LastRuns()


def test_a_run_without_failures_makes_no_directory(tmp_path: Path) -> None:
    save_last_runs(LastRuns({"memory": []}), tmp_path / "new")
    assert not (tmp_path / "new").exists()
