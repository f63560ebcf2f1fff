"""`replay --script`, `replay --issue`, and `check --scripts`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fscontract.contract.cli.main import main
from fscontract.contract.spec.profiles import load_profile
from tests.contract.isolation.seeking_targets import TARGETS
from tests.script_runner import ScriptRunner

_CLAUSE = "python.writable.false"


def _replay_file(folder: Path, target: str = "memory://demo", **more: Any) -> Path:
    features = sorted(load_profile("fsspec").as_observed({}).features)
    program = {"length": 0, "streams": 1, "steps": [["py_writable"]]}
    data = {"fscontract-replay": 1, "clause": _CLAUSE, "program": program, "target": target}
    path = folder / "failure.json"
    path.write_text(json.dumps({**data, "features": features, "buffer": 4096, **more}))
    return path


def test_script_is_printed_and_not_run(tmp_path: Path, bare_scripts: ScriptRunner) -> None:
    result = CliRunner().invoke(main, ["replay", str(_replay_file(tmp_path)), "--script"])
    assert result.exit_code == 0
    assert bare_scripts.run(result.output).code == 1


def test_issue_has_versions_script_expected_and_actual(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["replay", str(_replay_file(tmp_path)), "--issue"])
    assert result.exit_code == 0
    title, *lines = result.output.splitlines()
    assert title == "# writable() returns False for an open read-only file: returned True"
    headings = [line for line in lines if line.startswith("#")]
    assert headings == ["## Versions", "## To reproduce", "## Expected", "## Actual"]
    assert any(line.startswith("- fsspec ") for line in lines)
    assert 'fs = fsspec.filesystem("memory")' in result.output
    assert "Python's binary files, for reading §" in result.output.partition("## Expected")[2]
    assert result.output.rstrip().count("```") == 2


_OURS = """
import io

from fscontract.implementations.bindings.python_file import PythonFileBinding


class Closed(io.FileIO):
    def readable(self):
        return False


def same(data):
    return data


def make():
    return PythonFileBinding(Closed, None, "ours")
"""


_FRESH = """
def fresh():
    return MemoryFileSystem(stream_class=type("Fresh", (Sharing,), {"unbuffered": []}))
"""


@pytest.mark.parametrize(("steps", "code"), [(["unbuffer"], 1), (["get_pos"], 0)])
def test_script_makes_the_calls_of_earlier_programs(
    steps: list[str], code: int, tmp_path: Path, own_scripts: ScriptRunner
) -> None:
    ours = tmp_path / "ours.py"
    ours.write_text(TARGETS + _FRESH)
    program = {"length": 5, "streams": 1, "steps": [["seek", -1]]}
    before = [{"length": 5, "streams": 1, "steps": [steps]}]
    features = sorted(load_profile("reference").as_observed({}).features)
    more: dict[str, Any] = {"clause": "seek.negative", "program": program, "features": features}
    path = _replay_file(tmp_path, before=before, **more)
    result = CliRunner().invoke(main, ["replay", str(path), f"{ours}:fresh", "--script"])
    assert result.exit_code == 0, result.output
    ran = own_scripts.run(result.output)
    assert ran.code == code, ran.output


@pytest.mark.parametrize(
    "words", [["make"], ["Closed", "--encode", "{}:same"]], ids=["make", "open"]
)
def test_issue_of_a_python_file_imports_the_class_that_opens_it(
    words: list[str], tmp_path: Path, bare_scripts: ScriptRunner
) -> None:
    ours = tmp_path / "ours.py"
    ours.write_text(_OURS)
    target, *options = (word.replace("{}", str(ours)) for word in words)
    program = {"length": 0, "streams": 1, "steps": [["py_readable"]]}
    features = sorted(load_profile("python-file").as_observed({}).features)
    more: dict[str, Any] = {"clause": "python.readable", "program": program, "features": features}
    path = _replay_file(tmp_path, **more)
    arguments = ["replay", str(path), f"{ours}:{target}", "--issue", *options]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("# readable() returns True")
    assert "f = ours.Closed(path)" in result.output
    assert "\nreturned False.\n" in result.output


def test_issue_names_exceptions_of_python_in_place_of_kinds(tmp_path: Path) -> None:
    program = {"length": 0, "streams": 1, "steps": [["py_write"]]}
    more: dict[str, Any] = {"clause": "python.write.refused", "program": program}
    result = CliRunner().invoke(main, ["replay", str(_replay_file(tmp_path, **more)), "--issue"])
    assert "\nHere: raises io.UnsupportedOperation or OSError.\n" in result.output


@pytest.mark.parametrize(
    ("more", "words", "message"),
    [
        ({}, ["--script", "java"], "the fsspec API is not one of Java; use --script python"),
        (
            {"clause": "pread.isolation", "threads": {"length": 9, "threads": [[["get_pos"]]]}},
            ["--script"],
            "no script: no result of the calls is wrong in any order",
        ),
    ],
)
def test_failure_without_a_script_is_a_mistake_of_usage(
    more: dict[str, Any], words: list[str], message: str, tmp_path: Path
) -> None:
    result = CliRunner().invoke(main, ["replay", str(_replay_file(tmp_path, **more)), *words])
    assert result.exit_code == 2
    assert message in result.output


def test_code_is_not_run_without_trust(tmp_path: Path) -> None:
    path = _replay_file(tmp_path, target="ours.py:make")
    result = CliRunner().invoke(main, ["replay", str(path), "--script"])
    assert result.exit_code == 2
    assert "--trust" in result.output


def test_secret_options_are_not_printed(tmp_path: Path) -> None:
    path = _replay_file(tmp_path, options=["password"])
    words = ["replay", str(path), "--script", "-o", "password=hunter2-is-secret"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    assert "hunter2" not in result.output
    assert 'os.environ["PASSWORD"]' in result.output


def test_check_writes_the_scripts_of_all_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare_scripts: ScriptRunner
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["check", "memory://demo", "--clauses", _CLAUSE, "--no-isolate", "-q"]
    report = ["--scripts", "scripts", "--json", "report.json", "--html", "report.html"]
    result = CliRunner().invoke(main, [*words, *report])
    assert result.exit_code == 1, result.output
    assert "scripts: 1 in scripts" in result.output
    (path,) = Path("scripts").iterdir()
    assert bare_scripts.run(path.read_text(encoding="utf-8")).code == 1
    data = json.loads(Path("report.json").read_text(encoding="utf-8"))
    (failing,) = (c for c in data["clauses"] if c["id"] == _CLAUSE)
    assert failing["counterexample"]["script"] == path.read_text(encoding="utf-8")
    assert "Script without fscontract" in Path("report.html").read_text(encoding="utf-8")
