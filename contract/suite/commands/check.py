"""`fscontract check`: run the suite on targets and report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fscontract.contract.suite.commands import common

if TYPE_CHECKING:
    from fscontract.contract.binding import Binding
    from fscontract.contract.clauses import Clause
    from fscontract.contract.known import Known
    from fscontract.contract.suite.report import Entry
    from fscontract.contract.suite.report.console import Console
    from fscontract.contract.suite.settings import Settings

_PATH = click.Path(path_type=Path)


@click.command(short_help="Check what holds of targets.")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@common.run_options
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
    known: Path | None,
    json: Path | None,
    junit: Path | None,
    markdown: Path | None,
    **values: Any,
) -> None:
    """Check what holds of TARGET, and exit 0 if it conforms.

    TARGET is a name such as memory or local, a URL, package.module:callable or file.py:callable;
    a callable returns a filesystem. Given several targets, the JSON report is a list.

    Exit codes: 0 conforms, 1 violation or a known failure that is gone, 2 usage, 3 the target
    could not be set up, 5 nothing selected or verified.
    """
    run = common.collect(values)
    reports = {"json": json, "junit": junit, "markdown": markdown}
    _check_writable([path for path in reports.values() if path is not None])
    clauses = common.selected(run)
    if run.profile is not None:
        common.profile_of(run.profile, run)
    if not clauses:
        common.say_error(common.NOTHING_SELECTED)
        ctx.exit(common.NOTHING)
    entries = _run_all(targets, run, clauses, _load_known(known))
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
) -> list[Entry]:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.suite.report.console import Console
    from fscontract.contract.targets import mask_url

    made: list[tuple[str, Binding | NotSetUp]] = []
    for target in targets:  # mistakes in any of them show before the first one runs
        try:
            made.append((target, common.resolve(target, run)))
        except TargetError as error:
            made.append((target, NotSetUp(mask_url(target), str(error))))
    console = Console(sys.stdout)
    entries: list[Entry] = []
    for target, one in made:
        if isinstance(one, NotSetUp):
            entry: Entry = one
        else:
            settings = common.settings_for(target, one, run, clauses, known)
            entry = _run(one, settings, console)
        console.finish(entry)
        if isinstance(entry, NotSetUp):
            common.say_error(entry.message)
        entries.append(entry)
    return entries


def _run(binding: Binding, settings: Settings, console: Console) -> Entry:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.suite import runner
    from fscontract.contract.suite.report import NotSetUp

    try:
        return runner.check(binding, settings, console)
    except TargetError as error:
        return NotSetUp(binding.name, str(error))
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


def _check_writable(paths: Sequence[Path]) -> None:
    if len({path.resolve() for path in paths}) < len(paths):
        raise click.UsageError("two reports can't go to the same file")
    for path in paths:
        new = not path.exists()
        try:
            with path.open("ab"):
                pass
            if new:
                path.unlink()
        except OSError as error:
            raise click.UsageError(f"can't write {path}: {error.strerror or error}") from error


def _write(kind: str, path: Path, entries: Sequence[Entry]) -> None:
    from importlib import import_module

    render = import_module(f"fscontract.contract.suite.report.{kind}").render
    path.write_text(render(entries), encoding="utf-8")
