"""Tests of commands from other packages, which are listed without being imported."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.cli import main
from tests.pipeline.cli.support import error, run

PLUGIN = '''"""`fscontract greet`: say hello. And nothing else."""
import click
@click.command()
@click.argument("name")
def greet(name):
    click.echo(f"hello {name}")
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package with a command, `greet`, and one with a missing library."""
    (tmp_path / "guest").mkdir()
    (tmp_path / "guest" / "__init__.py").write_text("")
    (tmp_path / "guest" / "greet.py").write_text(PLUGIN)
    (tmp_path / "guest" / "broken.py").write_text('"""It lacks something."""\nimport no_such_thing')
    monkeypatch.syspath_prepend(tmp_path)
    names = {
        "greet": "guest.greet:greet",
        "broken": "guest.broken:it",
        "check": "guest.greet:greet",
    }
    found = EntryPoints(EntryPoint(n, v, main.COMMANDS) for n, v in names.items())
    monkeypatch.setattr(main, "_installed", lambda: found)
    for name in [n for n in sys.modules if n.startswith("guest")]:
        monkeypatch.delitem(sys.modules, name)
    return "guest"


def test_a_command_is_listed_by_the_docstring_of_its_module(plugin: str) -> None:
    """Neither the module nor its package is imported."""
    lines = run("--help").stdout.splitlines()
    assert [line.split() for line in lines if "greet" in line] == [
        ["greet", "Say", "hello.", "And", "nothing", "else."]
    ]
    assert plugin not in sys.modules


def test_a_command_runs_with_its_own_arguments(plugin: str) -> None:
    """And has its own help."""
    assert run("greet", "you").stdout == "hello you\n"
    assert "Usage: main greet [OPTIONS] NAME" in run("greet", "--help").stdout


def test_missing_library_of_a_command_is_named(plugin: str) -> None:
    """On one line, with the exit code of a target that can't be set up."""
    assert error(3, "broken") == snapshot("command 'broken' needs the module 'no_such_thing'")


def test_builtin_command_is_not_replaced(plugin: str) -> None:
    """By a plugin with the same name."""
    assert "TARGET..." in run("check", "--help").stdout


def test_help_imports_no_pipeline() -> None:
    """Although it lists the commands of the pipeline."""
    program = (
        "import sys\n"
        "from fscontract.contract.cli.main import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "finally:\n"
        "    print([n for n in sys.modules if n.startswith(('fscontract.pipeline', 'rich'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert re.search(r"^  read +Print the records of files, locally", done.stdout, re.MULTILINE)
    assert re.search(r"^  split +List the blocks of files\.$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("\n[]\n")
