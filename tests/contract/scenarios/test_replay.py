"""A failure of a part of a pipeline is played again from its replay file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fscontract.contract.cli.main import main
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.runner.replay_files import ReplayFiles
from fscontract.contract.runner.result import RunResult
from fscontract.contract.scenarios.check import scenarios_of
from fscontract.contract.scenarios.replay import replay
from fscontract.contract.spec.clauses import select
from fscontract.fakes.mutants.registry import mutant_named, mutants
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.pipeline_checks import check_pipeline
from tests.script_runner import ScriptRunner

_DEAF = mutant_named("split.trigger-Deaf")
_CODE = """\
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.pipeline.splitter.binding import LocalSplitterBinding

right = LocalSplitterBinding


def deaf():
    return mutant_named("split.trigger-Deaf").binding()
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the path of a file of targets, in the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.py").write_text(_CODE)
    return "parts.py"


def _run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def _checked(binding: PipelineBinding, clause: str, directory: Path) -> RunResult:
    return check_pipeline(binding, select([clause]), replays=ReplayFiles(directory))


def test_failure_still_fails_until_the_part_is_right(code: str) -> None:
    assert _run("check", f"{code}:deaf", "--clauses", "split.trigger").exit_code == 1
    (file,) = Path(".fscontract").glob("split.trigger-*.json")
    still = _run("replay", str(file), f"{code}:deaf")
    assert still.exit_code == 1
    assert still.output.startswith("split.trigger: still fails\n  scenario   ")
    assert "  expected   " in still.output
    now = _run("replay", str(file), f"{code}:right")
    assert (now.exit_code, now.output.splitlines()[0]) == (0, "split.trigger: passes now")


def test_check_prints_the_command_that_plays_a_failure_again(code: str) -> None:
    output = _run("check", f"{code}:deaf", "--clauses", "split.trigger").output
    (line,) = (line for line in output.splitlines() if line.startswith("  again "))
    assert _run(*line.split()[2:]).exit_code == 1


def test_failures_of_the_last_run_are_played_without_arguments(code: str) -> None:
    _run("check", f"{code}:deaf", "--clauses", "split.trigger")
    assert "split.trigger: still fails" in _run("replay", "--trust").output


def test_file_of_a_failure_that_is_gone_is_removed_by_the_next_run(tmp_path: Path) -> None:
    _checked(_DEAF.binding(), _DEAF.clause, tmp_path)
    assert list(tmp_path.glob("*.json"))
    assert _checked(_Named(_DEAF.binding().name), _DEAF.clause, tmp_path).conforms
    assert not list(tmp_path.glob("*.json"))


class _Named(LocalSplitterBinding):
    """A right splitter by the name of another one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


@pytest.mark.parametrize("api", ["splitter", "blockreader", "metadata-table"])
def test_each_scenario_is_found_by_its_label(api: str) -> None:
    kit = scenarios_of(mutants(api)[0].binding())
    numbered = [kit.numbered(number, 3).label for number in (1, 20)]
    labels = [*(scenario.label for scenario in kit.scenarios), *numbered]
    assert [kit.labelled(label, 3).label for label in labels] == labels
    assert len({*labels}) == len(labels)


def test_another_violation_is_told_apart() -> None:
    data = {"fscontract-replay": 1, "clause": "split.cover", "scenario": "trigger", "seed": 0}
    assert replay(_DEAF.binding(), data).outcome == "fails otherwise"


@pytest.mark.parametrize("label", ["no such", "random 0", "random x", ""])
def test_unknown_scenario_is_one_clear_line(label: str) -> None:
    data = {"fscontract-replay": 1, "clause": "split.cover", "scenario": label, "seed": 0}
    with pytest.raises(ProgramError, match="a splitter has no scenario"):
        replay(_DEAF.binding(), data)


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        ({"scenario": 3}, (), "scenario must be a string, and seed a number"),
        ({"seed": "x"}, (), "scenario must be a string, and seed a number"),
        ({"scenario": "nothing"}, (), "a splitter has no scenario 'nothing'"),
        ({}, ("--script", "java"), "--script java takes a failure of a stream or a filesystem"),
        ({}, ("--issue",), "--issue takes a failure of a stream or a filesystem"),
    ],
)
def test_file_that_is_no_such_failure_is_a_usage_error(
    code: str, change: dict[str, object], words: tuple[str, ...], message: str
) -> None:
    data = {"fscontract-replay": 1, "clause": "split.trigger", "scenario": "trigger", "seed": 0}
    Path("one.json").write_text(json.dumps(data | change))
    result = _run("replay", "one.json", f"{code}:deaf", *words)
    assert result.exit_code == 2
    assert message in result.output


def test_script_of_a_replay_file_fails_until_the_part_is_right(
    code: str, own_scripts: ScriptRunner
) -> None:
    data = {"fscontract-replay": 1, "clause": "split.trigger", "scenario": "trigger", "seed": 0}
    Path("one.json").write_text(json.dumps(data))
    wrong, right = (
        own_scripts.run(_run("replay", "one.json", f"{code}:{name}", "--script").output)
        for name in ("deaf", "right")
    )
    assert "Violated: split.trigger: expected files after the trigger" in wrong.output
    assert right.code == 0, right.output


def test_target_of_another_kind_is_a_usage_error(code: str) -> None:
    data = {"fscontract-replay": 1, "clause": "split.trigger", "scenario": "trigger", "seed": 0}
    Path("one.json").write_text(json.dumps(data))
    result = _run("replay", "one.json", "memory")
    assert result.exit_code == 2
    assert "expected a splitter as target, got a stream" in result.output
