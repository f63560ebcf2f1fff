"""Random scenarios follow the seed, and there are more of them with a greater effort."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.events import RunStarted
from fscontract.contract.runner.replay_files import ReplayFiles
from fscontract.contract.runner.result import Verdict
from fscontract.contract.scenarios.check import scenarios_of
from fscontract.contract.scenarios.replay import replay
from fscontract.contract.scenarios.scenario import RANDOM
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.known_failures import Known
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.pipeline_checks import check_pipeline

#: A part of each kind, and a clause that random scenarios judge.
PARTS = [
    (LocalSplitterBinding("splitter"), "split.cover"),
    (ReaderBinding(), "record.none-lost"),
    (TableBinding(), "metadata.files"),
]
EACH_KIND = pytest.mark.parametrize(
    ("binding", "clause"), PARTS, ids=[clause for _, clause in PARTS]
)


@EACH_KIND
def test_seed_determines_the_random_scenarios(binding: PipelineBinding, clause: str) -> None:
    def details(seed: int) -> list[str]:
        return [s.detail for s in scenarios_of(binding).selected_random([clause], "quick", seed)]

    assert details(3) == details(3)
    assert not {*details(3)} & {*details(4)}
    assert 0 < len(details(3)) <= RANDOM["quick"]


@EACH_KIND
def test_effort_determines_their_number(binding: PipelineBinding, clause: str) -> None:
    kit = scenarios_of(binding)
    counts = [len([*kit.selected_random([clause], effort, 0)]) for effort in ("quick", "normal")]
    assert counts[0] < counts[1] < RANDOM["deep"]


@pytest.mark.parametrize("binding", [binding for binding, _ in PARTS[:2]], ids=["split", "read"])
def test_right_part_conforms_at_normal_effort(binding: PipelineBinding) -> None:
    (clause,) = (c for b, c in PARTS if b is binding)
    result = check_pipeline(binding, select([clause]), effort="normal", seed=7)
    assert result.conforms
    assert (result.effort, result.seed) == ("normal", 7)


def test_clauses_that_no_random_scenario_judges_select_none() -> None:
    binding, _ = PARTS[1]
    assert not [*scenarios_of(binding).selected_random(["block.hints"], "deep", 0)]


class _LosesLongRuns(ReadAheadLineReaderContext):
    """Loses records that begin with three vertical bars, which no written scenario has."""

    def _find(self) -> Any:
        batch = super()._find()
        if batch is not None and any(bytes(r).startswith(b"||") for r in batch.records):
            return self._find()
        return batch


def test_failure_names_the_seed_and_fails_again_with_it() -> None:
    """The signature has no seed, so that an entry of known failures covers it."""
    binding = ReaderBinding()
    binding.read_ahead = _LosesLongRuns
    seen: list[Any] = []
    results = [
        check_pipeline(
            binding, select(["record.none-lost"]), effort="normal", seed=11, listener=seen.append
        )
        for _ in range(2)
    ]
    found = [[(f.signature, f.expected) for f in r.clauses[0].counterexamples] for r in results]
    assert found[0] == found[1]
    (expected,) = (e for signature, (e,) in found[0] if "random" in signature)
    assert "of seed 11, Case(" in expected
    assert not any("11" in signature for signature, _ in found[0])
    assert [(e.effort, e.seed) for e in seen if isinstance(e, RunStarted)] == [("normal", 11)] * 2


def test_random_failure_is_played_again_by_its_number_and_seed(tmp_path: Path) -> None:
    binding, files = ReaderBinding(), ReplayFiles(tmp_path)
    binding.read_ahead = _LosesLongRuns
    clauses = select(["record.none-lost"])
    check_pipeline(binding, clauses, effort="normal", seed=11, replays=files)
    (file,) = tmp_path.glob("*.json")
    data = json.loads(file.read_text())
    assert (data["scenario"].split()[0], data["seed"]) == ("random", 11)
    again = replay(binding, data)
    assert again.outcome == "still fails"
    assert f"{data['scenario']} of seed 11, Case(" in again.scenario
    assert replay(ReaderBinding(), data).outcome == "passes now"


def test_known_failure_need_not_occur_with_another_seed() -> None:
    known = Known("record.none-lost", "a bug", "scenario: random; record.none-lost")
    (result,) = check_pipeline(ReaderBinding(), select(["record.none-lost"]), [known]).clauses
    assert result.outcome is Verdict.PASS
