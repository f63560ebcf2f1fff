"""Help at a terminal: the first page, shell completion, and the layout of `explain`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from types import SimpleNamespace

import click
import pytest
from click.shell_completion import CompletionItem, get_completion_class
from click.testing import CliRunner

from fscontract.contract.cli import completion as completing
from fscontract.contract.cli import explain
from fscontract.contract.cli.main import main
from fscontract.contract.cli.options import _completed
from fscontract.contract.spec.clauses import FAULTS, clauses
from tests.contract.cli.test_main import error, run

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def test_the_command_alone_shows_what_most_need() -> None:
    """Three commands that fit a narrow terminal; a script that lost its arguments fails."""
    result = run()
    assert result.exit_code == 2
    shown = [line.split()[:2] for line in result.stdout.splitlines() if line.startswith("  ")]
    assert shown == [["fscontract", name] for name in ("check", "explain", "replay")]
    assert max(map(len, result.stdout.splitlines())) <= 80


def complete(completer: Completer, incomplete: str) -> list[tuple[str, str]]:
    """Return the completions that a shell offers, with their types."""
    context = click.Context(click.Command("check"))
    found = completer(context, click.Argument(["name"]), incomplete)
    return [(str(item.value), item.type) for item in found]


@pytest.mark.parametrize(
    ("completer", "incomplete", "expected"),
    [
        (completing.targets, "memo", [("memory", "plain")]),
        (completing.targets, "./da", [("./da", "file")]),
        (completing.clauses, "seek.neg", [("seek.negative", "plain")]),
        (completing.clauses, "close,seek.neg", [("close,seek.negative", "plain")]),
        (completing.explained, "parq", [("parquet", "plain")]),
        (completing.explained, "supports-sk", [("supports-skip", "plain")]),
        (completing.features, "a,!supports-sk", [("a,!supports-skip", "plain")]),
        (completing.profiles, "hadoop-r", [("hadoop-raw", "plain")]),
        (completing.profiles, "./mine", [("./mine", "file")]),
    ],
)  # fmt: skip
def test_the_shell_completes(
    completer: Completer, incomplete: str, expected: list[tuple[str, str]]
) -> None:
    """Names where there are some that fit, else files."""
    assert complete(completer, incomplete) == expected


def test_groups_are_completed_before_their_clauses() -> None:
    """As both can be chosen."""
    assert complete(completing.clauses, "seek")[:2] == [
        ("seek", "plain"),
        ("seek.supported", "plain"),
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_there_for_each_shell(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that the documentation names."""
    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(main, {}, "fscontract", "_FSCONTRACT_COMPLETE")
    names = {item.value for item in completion.get_completions([], "")}
    assert {"check", "explain", "matrix", "split"} <= names
    assert [c.value for c in completion.get_completions(["check", "memory"], "--base")] == [
        "--baseline"
    ]


def test_an_example_is_a_sentence() -> None:
    """No list or value of Python's, and a command that checks just this clause."""
    text = run("explain", "seek.negative").stdout
    assert "f.seek(-1) -> raises EOF or IO\n" in text
    assert text.endswith("  check       fscontract check TARGET --clauses seek.negative\n")
    for clause in clauses().values():
        lines = run("explain", clause.id).stdout.splitlines()
        assert not any("['" in line for line in lines if line.startswith("  example"))
        assert lines[-1].endswith("--faults quick") is (
            clause.document == FAULTS and clause.testable
        )


def test_a_group_is_a_list_of_its_clauses() -> None:
    """With their levels and statements."""
    text = run("explain", "capabilities").stdout
    assert text.startswith(
        "capabilities  5 clauses\n  capabilities.unknown  MUST\n    hasCapability() "
    )


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_texts_fit_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a wide one no more is used than can be read."""
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(explain, "sys", terminal)
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_, **__: size)
    _, *lines = run("explain", "fs.option.openfile.length").stdout.splitlines()
    widest = max(map(len, lines))
    assert min(columns, 98) * 0.8 < widest <= min(columns, 98)


def test_names_stand_out_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """In colours, unless NO_COLOR is set."""
    lines = list(explain._clause(clauses()["seek.negative"]))
    assert lines[0].startswith("\x1b[1mseek.negative\x1b[0m  MUST")
    assert lines[1].startswith("  seek(p) with p < 0")
    assert any(line.startswith("  \x1b[36mreading    \x1b[0m F1") for line in lines)
    for value in ("", "1"):
        monkeypatch.setenv("NO_COLOR", value)
        shown = CliRunner().invoke(main, ["explain", "seek.negative"], color=True).output
        assert ("\x1b" in shown) is (not value)
    assert "\x1b" not in run("explain", "seek.negative").stdout


@pytest.mark.parametrize("group", ["profile", "metadata"])
def test_a_group_alone_shows_its_commands(group: str) -> None:
    """They have the same format as elsewhere: one line each."""
    result = run(group)
    assert result.exit_code in (0, 2)  # click before 8.2 takes it for a question
    assert "error" not in result.output
    assert len(result.output.splitlines()) > 5


def test_who_leaves_an_argument_out_is_told_where_to_look() -> None:
    """In the same line."""
    argument = "CLAUSE|GROUP|FEATURE|OPTION|POLICY"
    assert error("explain") == f"Missing argument '{argument}'; see 'main explain --help'"


@pytest.mark.parametrize(
    ("arguments", "completed"),
    [
        (["--strict", "memory"], ["--strict=inherited", "memory"]),
        (["memory", "--strict"], ["memory", "--strict=inherited"]),
        (["memory", "--strict", "--quiet"], ["memory", "--strict=inherited", "--quiet"]),
        (["memory", "--strict", "hadoop"], ["memory", "--strict", "hadoop"]),
        (["--strict=hadoop", "memory"], ["--strict=hadoop", "memory"]),
        (["--strict", "inherited,hadoop", "x"], ["--strict", "inherited,hadoop", "x"]),
        (["--", "--strict", "memory"], ["--", "--strict", "memory"]),
    ],
)
def test_value_of_strict_may_be_left_out(arguments: list[str], completed: list[str]) -> None:
    assert _completed(arguments) == completed
