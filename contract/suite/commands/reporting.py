"""What `check` makes of its results: files, what GitHub shows, the exit code."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fscontract.contract.suite.commands import common

if TYPE_CHECKING:
    from fscontract.contract.suite.baseline import Baseline, Comparison
    from fscontract.contract.suite.report import Entry


def read_baseline(path: Path | None, outputs: Sequence[Path]) -> Baseline | None:
    """The baseline of this file, if there is one; MatrixError, UsageError."""
    if path is None:
        return None
    from fscontract.contract.suite.baseline import load_baseline

    if path.resolve() in {output.resolve() for output in outputs}:
        raise click.UsageError(f"{path} is the baseline: a report can't go there")
    return load_baseline(path)


def write_reports(paths: Mapping[str, Path | None], entries: Sequence[Entry]) -> None:
    """Write each report that has a path."""
    from importlib import import_module

    for kind, path in paths.items():
        if path is not None:
            render = import_module(f"fscontract.contract.suite.report.{kind}").render
            text: str = render(entries)
            # names of files may hold what is no character; JSON has just this form for it
            path.write_text(text, encoding="utf-8", errors="backslashreplace")


def tell(entries: Sequence[Entry], baseline: Baseline | None) -> list[Comparison]:
    """Print what differs from the baseline, and tell GitHub, if this runs there."""
    compared = [] if baseline is None else baseline.compare(entries)
    if baseline is not None:
        from fscontract.contract.suite.report.changes import as_lines

        for line in as_lines(str(baseline.path), compared):
            click.echo(line)
    _tell_github(entries, "" if baseline is None else str(baseline.path), compared)
    return compared


@contextmanager
def without_commands() -> Iterator[None]:
    """Meanwhile GitHub, if this runs there, takes no printed line for a command to it: targets
    may print anything, and reports repeat what targets say."""
    from fscontract.contract.suite.report.github import is_wanted

    if not is_wanted(os.environ):
        yield
        return
    token = secrets.token_hex(16)
    click.echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        click.echo(f"::{token}::")


def exit_code(entries: Sequence[Entry], compared: Sequence[Comparison]) -> int:
    """That of the command; beside a baseline only what is new or vanished is a violation."""
    if not compared:
        return common.worst([_code(entry) for entry in entries])
    codes = [_code(entry) for entry in entries]
    codes = [
        _lenient(e) if code == common.VIOLATION else code
        for e, code in zip(entries, codes, strict=True)
    ]
    codes += [common.VIOLATION for found in compared if found.worse]
    return common.worst(codes)


def _code(entry: Entry) -> int:
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.suite.result import FAILING, Verdict

    if isinstance(entry, NotSetUp):
        return common.SET_UP
    outcomes = {r.outcome for r in entry.clauses}
    if entry.conforms:
        return common.CONFORMS
    if outcomes & FAILING:
        return common.VIOLATION
    if entry.incomplete:
        return common.SET_UP
    return common.SET_UP if Verdict.ERROR in outcomes else common.NOTHING


def _lenient(entry: Entry) -> int:
    """The code of a target that fails, if that is no news."""
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.suite.result import Verdict

    if isinstance(entry, NotSetUp) or entry.incomplete:
        return common.SET_UP
    lost = Verdict.ERROR in {r.outcome for r in entry.clauses}
    return common.SET_UP if lost else common.CONFORMS


def _tell_github(entries: Sequence[Entry], baseline: str, compared: Sequence[Comparison]) -> None:
    from fscontract.contract.suite.report import github, markdown
    from fscontract.contract.suite.report.changes import as_markdown

    if not github.is_wanted(os.environ):
        return
    for annotation in github.annotated(entries, compared):
        click.echo(str(annotation))
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    beside = as_markdown(baseline, compared) if compared else ""
    texts = markdown.render(entries) + "\n" + beside, markdown.render_briefly(entries) + "\n"
    try:
        if not github.append_summary(Path(path), *texts):
            common.say_error("the summary of the job has no room for the report")
    except OSError as error:
        common.say_error(f"can't write the summary of the job: {error.strerror or error}")
