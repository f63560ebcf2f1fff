"""Tests of contract/config.py, and of `fscontract check` with a pyproject.toml."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator

from fscontract.contract.config import ConfigError, find_config, load_config
from fscontract.contract.runner.run_options import RunOptions
from tests.contract.cli.test_main import error, run
from tests.contract.conftest import FakeSuite


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, folder: Path = Path()) -> Path:
    """Write a pyproject.toml."""
    path = folder / "pyproject.toml"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def mistakes(text: str) -> list[str]:
    """Return the lines of the error for a pyproject.toml."""
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    return str(caught.value).splitlines()


def test_check_without_arguments_runs_the_targets_of_pyproject(
    stub_target: str, suite: FakeSuite
) -> None:
    write(f"""
        [tool.fscontract]
        clauses = ["seek.*"]
        [[tool.fscontract.target]]
        target = "{stub_target}"
        [[tool.fscontract.target]]
        target = "{stub_target.replace("Stub", "Other")}"
        clauses = ["seek.zero"]
        effort = "normal"
    """)
    result = run("check", "--no-isolate", "-q")
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["stub", "other"]
    assert [settings.effort for settings in suite.runs] == ["quick", "normal"]
    assert [c.id for c in suite.runs[1].clauses] == ["seek.zero"]
    assert len(suite.runs[0].clauses) > 1


def test_options_of_the_command_line_win_over_those_of_the_file(
    stub_target: str, suite: FakeSuite
) -> None:
    write(f"""
        [[tool.fscontract.target]]
        target = "{stub_target}"
        effort = "normal"
        seed = 7
    """)
    run("check", "--no-isolate", "--effort", "quick")
    assert (suite.runs[0].effort, suite.runs[0].seed) == ("quick", 7)


def test_a_target_of_the_command_line_gets_its_table_or_the_defaults(
    stub_target: str, suite: FakeSuite
) -> None:
    other = stub_target.replace("Stub", "Other")
    write(f"""
        [tool.fscontract]
        seed = 3
        [[tool.fscontract.target]]
        target = "{stub_target}"
        seed = 7
    """)
    run("check", "--no-isolate", stub_target, other)
    assert [settings.seed for settings in suite.runs] == [7, 3]


def test_known_failures_of_the_file_apply(stub_target: str, suite: FakeSuite) -> None:
    Path("known.yaml").write_text("known: [{clause: seek.zero, reason: r, signature: s}]\n")
    write(f"""
        [[tool.fscontract.target]]
        target = "{stub_target}"
        known = "known.yaml"
    """)
    run("check", "--no-isolate")
    assert [known.clause for known in suite.runs[0].known] == ["seek.zero"]


def test_an_isolated_run_gets_the_options_of_the_file() -> None:
    write("""
        [tool.fscontract]
        clauses = ["seek.zero"]
        [[tool.fscontract.target]]
        target = "memory"
        seed = 5
    """)
    result = run("check")
    assert result.exit_code == 0, result.output
    assert "effort quick, seed 5" in result.stdout
    assert "conforms: 1 clause holds" in result.stdout


def test_check_without_target_and_configuration_is_a_usage_error() -> None:
    assert error("check") == (
        snapshot(
            "Missing argument 'TARGET...'; pass a target, or list targets as "
            "[[tool.fscontract.target]] in pyproject.toml"
        )
    )


def test_the_nearest_table_above_the_folder_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    path = write("[tool.fscontract]\nseed = 1\n", tmp_path)
    write("[tool.other]\n", inner.parent)
    config = find_config(inner)
    assert (config.path, config.defaults) == (path, {"seed": 1})


def test_there_is_an_empty_configuration_without_a_file(tmp_path: Path) -> None:
    config = find_config(tmp_path)
    assert (config.path, config.runs()) == (None, [])


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").touch()
    write("""
        [[tool.fscontract.target]]
        target = "tests/store.py:make"
        known = "known.yaml"
        profile = "mine.yaml"
        [[tool.fscontract.target]]
        target = "package.module:make"
        profile = "default"
    """)
    inner = tmp_path / "tests"
    inner.mkdir()
    monkeypatch.chdir(inner)
    first, second = find_config(inner).runs()
    assert first == {
        "target": "store.py:make",
        "known": Path("../known.yaml"),
        "profile": "../mine.yaml",
    }
    assert second == {"target": "package.module:make", "profile": "default"}


def test_values_of_target_options_become_texts() -> None:
    path = write("""
        [[tool.fscontract.target]]
        target = "memory"
        options = {size = 5, lazy = true, name = "x"}
    """)
    config = load_config(path)
    assert config is not None
    assert config.runs()[0]["options"] == {"size": "5", "lazy": "true", "name": "x"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "[tool.fscontract]\neffrt = 'deep'",
            "tool.fscontract: unknown property 'effrt'; allowed: profile",
        ),
        ("[tool.fscontract]\nseed = '1'", "tool.fscontract.seed: expected a whole number"),
        ("[tool.fscontract]\nseed = -1", "tool.fscontract.seed: -1 is less than the minimum of 0"),
        ("[tool.fscontract]\neffort = 'hard'", "tool.fscontract.effort: expected one of"),
        (
            "[[tool.fscontract.target]]\nseed = 1",
            "tool.fscontract.target[0]: required property missing: 'target'",
        ),
        ("[tool]\nfscontract = 1", "tool.fscontract: expected a mapping, got 1"),
        ("[tool", "not TOML: "),
        (
            "[[tool.fscontract.target]]\ntarget = 's3'\noptions = {secret_key = 'hidden'}",
            "tool.fscontract.target[0].options.secret_key: secrets must not be in a file; use",
        ),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_key(text: str, line: str) -> None:
    (message,) = mistakes(text)
    assert message.startswith(f"pyproject.toml: {line}")
    assert "hidden" not in message


def test_a_mistake_ends_the_command_with_2() -> None:
    write("[tool.fscontract]\neffrt = 'deep'\n")
    assert "pyproject.toml: tool.fscontract: unknown property 'effrt'" in error("check", "memory")


def test_the_schema_is_valid_and_names_the_options_of_a_run() -> None:
    text = files("fscontract.specs").joinpath("config.schema.json").read_text("utf-8")
    schema: Any = json.loads(text)
    Draft202012Validator.check_schema(schema)
    fields = set(RunOptions.__dataclass_fields__) - {"spark", "fail_fast", "jobs"}
    assert set(schema["$defs"]["target"]["properties"]) == fields | {"target", "known"}
