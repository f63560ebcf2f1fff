"""Tasks check whether they see the file that was written where the run began."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import Binding
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.distributed.file_visibility import (
    Written,
    compare,
    is_place,
    write,
)
from fscontract.contract.isolation import protocol
from fscontract.contract.runner import run_options
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import clauses, select
from fscontract.contract.spec.profiles import load_profile
from fscontract.fakes.mutants.correct_parts import View
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem
from tests.contract.distributed.conftest import Here, options

CHOSEN = tuple(select(("executors",)))
MUTANTS = mutants("executors")
Run = Callable[[Callable[[MemoryFileSystem], Binding], str], RunResult]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the clauses of executors on what it makes of a driver's files."""

    def run(there: Callable[[MemoryFileSystem], Binding], target: str) -> RunResult:
        files = MemoryFileSystem()
        monkeypatch.setattr(run_options, "resolve", lambda *_: there(files))
        settings = Settings(load_profile("reference"), CHOSEN)
        asked = options(clauses=("capabilities.unknown",))
        here = StreamBinding(files, "files")
        return DistributedRun(target, here, asked, settings, Here(), tasks=2).check()

    return run


def outcomes(result: RunResult) -> dict[str, Verdict]:
    """Return the outcome of each clause."""
    return {c.clause.id: c.outcome for c in result.clauses}


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_mutant_violates_its_clause_and_no_other(mutant: Mutant, run: Run) -> None:
    """The counterexample names the machine."""
    result = run(lambda files: StreamBinding(mutant.part(files), str(mutant)), "place://there")
    expected = {c.id: Verdict.PASS for c in CHOSEN} | {mutant.clause: Verdict.FAIL}
    assert outcomes(result) == expected, mutant.says
    (shown,) = (c.counterexample for c in result.clauses if c.counterexample)
    assert ", on " in shown.actual
    assert shown.signature.partition(":")[0] in ("status", "read", "open")


def test_every_clause_of_executors_has_a_mutant() -> None:
    assert {m.clause for m in MUTANTS} == {c.id for c in CHOSEN}
    assert all(m.says.endswith(".") for m in MUTANTS)


def test_a_status_that_is_lost_is_an_error_of_its_clause_alone(run: Run) -> None:
    class Loses(StreamBinding):
        def status_etag(self, path: str) -> str | None:
            raise ConnectionResetError("gone")

    result = run(lambda files: Loses(View(files), "view"), "place://there")
    expected = {c.id: Verdict.PASS for c in CHOSEN} | {"executors.version": Verdict.ERROR}
    assert outcomes(result) == expected


def test_same_files_pass_in_every_task(run: Run) -> None:
    result = run(lambda files: StreamBinding(View(files), "view"), "place://there")
    assert set(outcomes(result).values()) == {Verdict.PASS}
    assert {c.exercised for c in result.clauses} == {2}


def test_missing_file_violates_every_clause(run: Run) -> None:
    result = run(lambda files: StreamBinding(MemoryFileSystem(), "other"), "place://there")
    assert set(outcomes(result).values()) == {Verdict.FAIL}


def test_target_that_each_task_makes_is_not_checked(run: Run) -> None:
    result = run(lambda files: StreamBinding(MemoryFileSystem(), "other"), "memory")
    assert set(outcomes(result).values()) == {Verdict.UNEXERCISED}
    assert result.clauses[0].reason == snapshot(
        "each task makes a separate target, whose files other tasks do not see"
    )


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("file:///d", True),
        ("s3://bucket/prefix", True),
        ("obstore+s3://bucket", True),
        ("memory://", False),
        ("pyarrow+memory://x", False),
        ("local", False),
        ("a.py:make", False),
    ],
)
def test_url_is_a_place_unless_its_files_are_in_a_process(target: str, place: bool) -> None:
    assert is_place(target) is place


def test_written_file_survives_json_without_its_bytes() -> None:
    binding = StreamBinding(MemoryFileSystem(), "files")
    binding.prepare()
    file = write(binding)
    text = json.dumps(protocol.to_json(file))
    assert protocol.from_json(Written, json.loads(text)) == file
    assert len(text) < 500


def test_read_that_hangs_is_a_violation() -> None:
    files = MemoryFileSystem()
    here, there = StreamBinding(files, "here"), StreamBinding(View(files), "there")
    never = threading.Event()

    def wait(path: str) -> object:
        while True:
            never.wait(0.02)

    here.prepare()
    there.open = wait  # type: ignore[method-assign,assignment]
    seen = compare(there, write(here), 0.5)
    assert seen.counterexamples["executors.bytes"].how == "file: hang"
    assert clauses()["executors.bytes"].api == "executors"
