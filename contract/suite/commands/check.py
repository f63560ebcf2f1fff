"""`fscontract check`: run the suite on targets and report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from fscontract.contract.suite.commands import common

if TYPE_CHECKING:
    from fscontract.contract.binding import Binding
    from fscontract.contract.clauses import Clause
    from fscontract.contract.known import Known
    from fscontract.contract.pipelineports import PipelineBinding
    from fscontract.contract.suite.isolate.parent import Isolated
    from fscontract.contract.suite.report import Entry, NotSetUp
    from fscontract.contract.suite.report.console import Console

    #: A target as it is checked.
    _Made: TypeAlias = Binding | PipelineBinding | Isolated | NotSetUp

_PATH = click.Path(path_type=Path)


@click.command(short_help="Check what holds of targets.")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@common.run_options
@click.option(
    "--isolate",
    is_flag=True,
    help="Run the target in a process of its own, and report programs that crash it.",
)
@click.option("--known", metavar="FILE", type=_PATH, help="Failures that are known (YAML).")
@click.option("--json", metavar="FILE", type=_PATH, help="Write a JSON report.")
@click.option("--junit", metavar="FILE", type=_PATH, help="Write JUnit XML.")
@click.option("--markdown", metavar="FILE", type=_PATH, help="Write Markdown.")
@click.pass_context
def check(
    ctx: click.Context,
    /,
    *,
    targets: tuple[str, ...],
    isolate: bool,
    known: Path | None,
    json: Path | None,
    junit: Path | None,
    markdown: Path | None,
    **values: Any,
) -> None:
    """Check what holds of TARGET, and exit 0 if it conforms.

    TARGET is a name such as memory or local, a URL, package.module:callable or file.py:callable;
    a callable returns a filesystem, or a binding to a part of a pipeline. Given several targets,
    the JSON report is a list.

    Exit codes: 0 conforms, 1 violation or a known failure that is gone, 2 usage, 3 the target
    could not be set up, 5 nothing selected or verified.
    """
    run = common.collect(values)
    reports = {"json": json, "junit": junit, "markdown": markdown}
    common.check_writable([path for path in reports.values() if path is not None])
    clauses = common.selected(run, anything=True)
    if run.profile is not None:
        common.profile_of(run.profile, run)
    if not clauses:
        common.say_error(common.NOTHING_SELECTED)
        ctx.exit(common.NOTHING)
    entries = _run_all(targets, run, clauses, _load_known(known), isolate)
    for kind, path in reports.items():
        if path is not None:
            _write(kind, path, entries)
    ctx.exit(common.worst([_code(entry) for entry in entries]))


def _load_known(path: Path | None) -> tuple[Known, ...]:
    if path is None:
        return ()
    from fscontract.contract.known import load_known

    known = load_known(path)
    for line in common.expired(known, date.today()):
        click.echo(f"fscontract: {line}", err=True)
    return known


def _run_all(
    targets: Sequence[str],
    run: common.RunOptions,
    clauses: tuple[Clause, ...],
    known: tuple[Known, ...],
    isolate: bool,
) -> list[Entry]:
    from fscontract.contract.binding import Binding
    from fscontract.contract.pipelineports import PipelineBinding
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.suite.report.console import Console
    from fscontract.contract.suite.report.redacted import redacted
    from fscontract.contract.suite.surroundings import Surroundings, private_copy

    surroundings, stream = Surroundings(), private_copy(sys.stdout)
    console, entries = Console(stream), []
    made: list[tuple[str, _Made]] = []
    try:
        for target in targets:  # mistakes in any of them show before the first one runs
            made.append((target, _make(target, run, known, isolate)))
            surroundings.restore()
            _require(made[-1][1], clauses)
        for target, one in made:
            entry = redacted(_run(target, one, run, clauses, known, console), run.options)
            surroundings.restore(last=True)
            console.finish(entry)
            if isinstance(entry, NotSetUp):
                common.say_error(entry.message)
            entries.append(entry)
    finally:
        for _, one in made:
            if not isinstance(one, Binding | PipelineBinding | NotSetUp):
                one.close()
        surroundings.close()
        if stream is not sys.stdout:
            stream.close()
    return entries


def _make(target: str, run: common.RunOptions, known: tuple[Known, ...], isolate: bool) -> _Made:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.targets import mask_url

    try:
        if not isolate:
            return common.resolve_any(target, run)
        from fscontract.contract.suite.isolate.parent import Isolated

        return Isolated(target, run, known)
    except TargetError as error:
        return NotSetUp(mask_url(target), str(error))


def _require(one: _Made, clauses: tuple[Clause, ...]) -> None:
    """End with exit code 5 unless there is a clause about what the target is."""
    from fscontract.contract.clauses import STREAM
    from fscontract.contract.pipelineports import PipelineBinding

    api = one.api if isinstance(one, PipelineBinding) else STREAM
    if not any(clause.api == api for clause in clauses):
        common.say_error(common.NOTHING_SELECTED)
        raise click.exceptions.Exit(common.NOTHING)


def _run(
    target: str,
    one: _Made,
    run: common.RunOptions,
    clauses: tuple[Clause, ...],
    known: tuple[Known, ...],
    console: Console,
) -> Entry:
    from fscontract.contract.binding import Binding, TargetError
    from fscontract.contract.pipelineports import PipelineBinding
    from fscontract.contract.suite import pipeline, runner
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.suite.settings import with_checks

    if isinstance(one, NotSetUp):
        return one
    try:
        if isinstance(one, PipelineBinding):
            return pipeline.check_pipeline(one, clauses, known, run.timeout, console)
        if isinstance(one, Binding):
            settings = common.settings_for(target, one, run, with_checks(clauses), known)
            return runner.check(one, settings, console)
        return one.check(console)
    except TargetError as error:
        return NotSetUp(str(one.name), str(error))
    finally:
        console.stop()


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
    return common.SET_UP if Verdict.ERROR in outcomes else common.NOTHING


def _write(kind: str, path: Path, entries: Sequence[Entry]) -> None:
    from importlib import import_module

    render = import_module(f"fscontract.contract.suite.report.{kind}").render
    text: str = render(entries)
    # names of files may hold what is no character; JSON has just this form for it
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
