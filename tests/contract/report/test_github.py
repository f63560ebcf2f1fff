"""GitHub annotations and summaries, and protection against workflow commands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.report.github import annotated, append_summary, is_wanted
from fscontract.contract.runner.baseline import Change, Comparison, Difference
from fscontract.contract.runner.result import ClauseResult, NotSetUp, RunResult, Verdict
from fscontract.contract.spec.clauses import Level
from tests.contract.cli.test_main import run
from tests.contract.conftest import FakeSuite
from tests.contract.report.matrices import judged, save

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]
COMMAND = re.compile(r"::(error|warning) title=([^:,\r\n]*)::([^\r\n]*)")


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of a step of a job; the file of its summary."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def shown(line: str) -> tuple[str, str, str]:
    """Kind, title and message of an annotation, as GitHub decodes them."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    title = match[2].replace("%3A", ":").replace("%2C", ",")
    kind, *texts = match[1], title, match[3]
    plain = (t.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%") for t in texts)
    return (kind, *plain)  # type: ignore[return-value]


def test_violations_are_errors_and_hints_are_warnings(make_result: Make, make_run: MakeRun) -> None:
    """With all that a reader needs; what was not verified is one line for each target."""
    result = make_run(
        make_result(),
        make_result(Verdict.FAIL, name="demo.bad"),
        make_result(Verdict.LAX, name="demo.lax", level=Level.SHOULD),
        make_result(Verdict.UNDECLARED, name="demo.u", reason="not declared: x"),
        make_result(Verdict.UNEXERCISED, name="demo.v", reason="no program reached it"),
        make_result(Verdict.KNOWN, name="demo.known"),
    )
    found = [shown(str(a)) for a in annotated([result], [])]
    assert [(kind, title) for kind, title, _ in found] == snapshot(
        [
            ("error", "demo.bad: fail on memory"),
            ("warning", "demo.lax is not satisfied by memory"),
            ("warning", "2 clauses not verified on memory"),
        ]
    )
    assert "  program    f = open(3 bytes); f.seek(2); f.seek(-1)\n" in found[0][2]
    assert "\nundeclared: not declared: x: demo.u\n" in found[2][2]


def test_what_was_out_of_the_way_is_a_warning(make_result: Make, make_run: MakeRun) -> None:
    result = replace(make_run(make_result()), warnings=("late once: it", "ended early: so"))
    assert [shown(str(a)) for a in annotated([result], [])] == [
        ("warning", "checking memory", "late once: it"),
        ("warning", "checking memory", "ended early: so"),
    ]


def test_a_target_that_was_not_set_up_is_an_error() -> None:
    """With its reason."""
    (found,) = annotated([NotSetUp("s3://b", "no way in")], [])
    assert str(found) == snapshot("::error title=s3%3A//b could not be set up::no way in")


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("./stores/mine.py:make", "stores/mine.py"),
        ("mine.py:Store.make", "mine.py"),
        ("a,b.py:make", "a%2Cb.py"),
        ("memory://x.py:1", ""),
        ("mine:make", ""),
        ("memory", ""),
    ],
)
def test_an_annotation_is_shown_at_the_file_of_the_target(
    target: str, file: str, make_result: Make, make_run: MakeRun
) -> None:
    """Where the diff of a pull request shows it."""
    run = replace(make_run(make_result(Verdict.FAIL)), target=target)
    (annotation,) = annotated([run], [])
    assert str(annotation).startswith(f"::error file={file},title=" if file else "::error title=")


def test_annotations_are_escaped_as_github_asks(make_result: Make, make_run: MakeRun) -> None:
    """%, line breaks, and in titles colons and commas: no text ends or begins a command."""
    evil = "100%\r\n::error title=x,file=y::z%0A"
    result = make_result(Verdict.FIXED, name="demo.bad", reason=evil)
    (found,) = annotated([make_run(result, target=evil)], [])
    text = str(found)
    assert "\n" not in text
    assert "\r" not in text
    kind, title, message = shown(text)
    assert title == snapshot("demo.bad: fixed on 100%\\r\n::error title=x,file=y::z%0A")
    assert "100%" in message
    assert kind == "error"


def test_no_more_than_github_shows(make_result: Make, make_run: MakeRun) -> None:
    """Ten of each kind; the last one names the rest."""
    bad = [make_result(Verdict.FAIL, name=f"demo.{n}") for n in range(25)]
    lax = [make_result(Verdict.LAX, name=f"demo.lax-{n}") for n in range(10)]
    found = annotated([make_run(*bad, *lax)], [])
    assert [a.kind for a in found] == ["error"] * 10 + ["warning"] * 10
    assert found[9].title == snapshot("16 more, see the summary of the job")
    assert "demo.24: fail on memory" in found[9].message


def test_beside_a_baseline_only_what_is_worse_is_an_error(
    make_result: Make, make_run: MakeRun
) -> None:
    """A known failure is a warning; a vanished clause is a separate error."""
    result = make_run(*(make_result(Verdict.FAIL, name=f"demo.{n}") for n in ("old", "new")))
    compared = Comparison(
        "memory",
        (
            Difference("demo.old", Change.STANDING, "fail", "fail before"),
            Difference("demo.new", Change.NEW, "fail", "pass before"),
            Difference("demo.gone", Change.VANISHED, "not selected", "pass before"),
            Difference("demo.chance", Change.UNEXERCISED, "not met", "pass before"),
        ),
    )
    found = [(a.kind, a.title) for a in annotated([result], [compared])]
    assert found == snapshot(
        [
            ("error", "demo.new: fail on memory"),
            ("error", "demo.gone is no longer verified on memory"),
            ("warning", "demo.old: fail on memory, as in the baseline"),
            ("warning", "demo.chance was not exercised this time on memory"),
        ]
    )


def test_nothing_is_said_elsewhere(stub_target: str, suite: FakeSuite, tmp_path: Path) -> None:
    """Only GITHUB_ACTIONS=true stands for GitHub; a file for the summary alone does not."""
    suite.outcomes["seek.zero"] = Verdict.FAIL
    assert "::" not in run("check", stub_target).stdout
    assert not is_wanted({"CI": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "s")})
    assert not is_wanted({"GITHUB_ACTIONS": "false"})


def test_a_job_gets_annotations_and_a_summary(
    stub_target: str, suite: FakeSuite, job: Path
) -> None:
    """The summary has what earlier steps of the job have written, and the report after it."""
    job.write_text("before\n")
    suite.outcomes["seek.zero"] = Verdict.FAIL
    save(Path("old.json"), judged({"seek.zero": "pass"}, "stub"))
    result = run("check", stub_target, "--clauses", "seek.zero", "--baseline", "old.json")
    assert result.exit_code == 1
    assert [shown(line)[1] for line in result.stdout.splitlines() if COMMAND.match(line)] == [
        "seek.zero: fail on stub"
    ]
    text = job.read_text()
    assert text.startswith("before\n## fscontract: stub\n")
    assert "## Beside old.json\n\n**1 new, 0 vanished" in text
    assert "| new | stub | seek.zero | fail: returned | pass before |" in text


def test_what_a_target_says_is_no_command(stub_target: str, suite: FakeSuite, job: Path) -> None:
    """From the first line of the run to the last GitHub heeds nothing but the token."""
    suite.outcomes["seek.zero"] = Verdict.FIXED
    suite.reasons["seek.zero"] = "x " * 60 + "::error::gotcha"
    lines = run("check", stub_target, "--clauses", "seek.zero").stdout.splitlines()
    assert lines[0].startswith("::stop-commands::")
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) >= 32
    end = lines.index(f"::{token}::")
    assert any("::error::gotcha" in line for line in lines[1:end])
    assert all(COMMAND.fullmatch(line) for line in lines[end + 1 :])
    assert token not in run("check", stub_target, "--clauses", "seek.zero").stdout


def test_a_mistake_leaves_commands_on(stub_target: str, suite: FakeSuite, job: Path) -> None:
    """Also one that shows after they were turned off."""
    first, last = run("check", "stubs.py:Nothing").stdout.splitlines()
    assert last == f"::{first.removeprefix('::stop-commands::')}::"


def test_a_summary_that_would_be_dropped_is_short(tmp_path: Path) -> None:
    """GitHub takes a mebibyte; what does not fit is not written at all."""
    path = tmp_path / "summary.md"
    assert append_summary(path, "x" * (1 << 20), "short")
    assert path.stat().st_size == 1 << 20
    assert not append_summary(path, "long", "short")
    path.write_text("x" * ((1 << 20) - 10))
    assert append_summary(path, "longer than it may be", "short")
    assert path.read_text().endswith("xshort")


def test_a_summary_that_can_not_be_written_is_one_line(
    stub_target: str, suite: FakeSuite, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is unchanged."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(job.parent))
    result = run("check", stub_target)
    assert result.exit_code == 0
    assert result.stderr == snapshot(
        "fscontract: error: can't write the job summary: Is a directory\n"
    )
