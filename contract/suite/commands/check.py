"""`fscontract check`: run the suite on targets and report."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from fscontract.contract.suite.commands import common, completing, isolates, reporting
from fscontract.contract.suite.interrupt import held_back

if TYPE_CHECKING:
    from fscontract.contract.binding import Binding
    from fscontract.contract.clauses import Clause
    from fscontract.contract.known import Known
    from fscontract.contract.pipelineports import PipelineBinding
    from fscontract.contract.suite.baseline import Baseline
    from fscontract.contract.suite.isolate.parent import Isolated
    from fscontract.contract.suite.report import Entry, NotSetUp
    from fscontract.contract.suite.report.console import Console
    from fscontract.contract.suite.spread.target import Elsewhere, SpreadTarget

    #: A target as it is checked.
    _Made: TypeAlias = Binding | PipelineBinding | Isolated | SpreadTarget | NotSetUp

_PATH = click.Path(path_type=Path)
_STOPPED = "interrupted before anything was found"


@click.command(short_help="Check what holds of targets.")
@click.argument(
    "targets",
    metavar="TARGET...",
    nargs=-1,
    required=True,
    shell_complete=completing.targets,
)
@common.run_options
@click.option(
    "--isolate/--no-isolate",
    default=None,
    help="Run each target in a process of its own, and report programs that crash it: the default. "
    "--no-isolate is for debuggers.",
)
@click.option(
    "--spark",
    metavar="MASTER",
    help="Run the programs in the executors of Spark, such as local[2].",
)
@click.option("--known", metavar="FILE", type=_PATH, help="Failures that are known (YAML).")
@click.option("--json", metavar="FILE", type=_PATH, help="Write a JSON report.")
@click.option("--junit", metavar="FILE", type=_PATH, help="Write JUnit XML.")
@click.option("--html", metavar="FILE", type=_PATH, help="Write one HTML page that needs no other.")
@click.option("--markdown", metavar="FILE", type=_PATH, help="Write Markdown.")
@click.option(
    "--baseline",
    metavar="OLD.json",
    type=_PATH,
    help="Fail only on what is worse than in this JSON report.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print no more than the verdicts.")
@click.pass_context
def check(
    ctx: click.Context,
    /,
    *,
    targets: tuple[str, ...],
    isolate: bool | None,
    known: Path | None,
    json: Path | None,
    junit: Path | None,
    html: Path | None,
    markdown: Path | None,
    baseline: Path | None,
    quiet: bool,
    **values: Any,
) -> None:
    """Check what holds of TARGET, and exit 0 if it conforms.

    TARGET is a name such as memory or local, a URL, package.module:callable or file.py:callable;
    a callable returns a filesystem, or a binding to a part of a pipeline. Given several targets,
    the JSON report is a list.

    Exit codes: 0 conforms, 1 violation or a known failure that is gone, 2 usage, 3 the target
    could not be set up or the run is incomplete, 4 internal error of fscontract, 5 nothing
    selected or verified; 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP. With --baseline 1 is for
    what fails anew, or in another way, and for what was verified then and is not now.
    """
    run = common.collect(values)
    if isolate and run.spark is not None:
        raise click.UsageError("--isolate is for one process, --spark for those of executors")
    apart = isolates.by_default() if isolate is None else isolate
    reports = {"json": json, "junit": junit, "html": html, "markdown": markdown}
    paths = [path for path in reports.values() if path is not None]
    common.check_writable(paths)
    old = reporting.read_baseline(baseline, paths)
    clauses = common.selected(run, anything=True)
    if run.profile is not None:
        common.profile_of(run.profile, run)
    if not clauses:
        common.say_error(common.NOTHING_SELECTED)
        ctx.exit(common.NOTHING)
    entries: list[Entry] = []
    try:
        with reporting.without_commands():
            _run_all(entries, targets, run, clauses, _load_known(known), apart, old, quiet)
    except KeyboardInterrupt:
        if entries:
            with held_back():
                reporting.write_reports(reports, entries)
        raise
    reporting.write_reports(reports, entries)
    ctx.exit(reporting.exit_code(entries, reporting.tell(entries, old)))


def _load_known(path: Path | None) -> tuple[Known, ...]:
    if path is None:
        return ()
    from fscontract.contract.known import load_known

    known = load_known(path)
    for line in common.expired(known, date.today()):
        common.say(f"fscontract: {line}", err=True)
    return known


def _run_all(
    entries: list[Entry],
    targets: Sequence[str],
    run: common.RunOptions,
    clauses: tuple[Clause, ...],
    known: tuple[Known, ...],
    isolate: bool,
    baseline: Baseline | None,
    quiet: bool,
) -> None:
    """Check the targets one by one; what comes of them is in `entries`, after Ctrl-C, too."""
    from fscontract.contract.suite.report import NotSetUp
    from fscontract.contract.suite.report.console import Console
    from fscontract.contract.suite.report.redacted import redacted
    from fscontract.contract.suite.surroundings import Surroundings, private_copy

    home = os.getpid()
    surroundings, stream = Surroundings(), private_copy(sys.stdout)
    console = Console(stream, quiet=quiet)
    made: list[tuple[str, _Made]] = []
    elsewhere = None if isolate else _elsewhere(run)
    try:
        for target in targets:  # mistakes in any of them show before the first one runs
            made.append((target, _make(target, run, known, isolate, elsewhere, console)))
            surroundings.restore()
            _require(made[-1][1], clauses)
        if baseline is not None:
            _require_baseline(baseline, [one for _, one in made])
        for target, one in made:
            entry, stopped = _checked(target, one, run, clauses, known, console)
            common.leave_fork(home)
            entry = redacted(entry, run.options)
            surroundings.restore(last=True)
            entries.append(entry)
            if stopped is not None:
                with contextlib.suppress(OSError):  # of a terminal that was closed
                    console.finish(entry)
                raise stopped
            console.finish(entry)
            if isinstance(entry, NotSetUp) and not common.in_one_place():
                common.say_error(entry.message)
    finally:
        with contextlib.suppress(OSError):
            console.stop()
        with held_back():
            _close([one for _, one in made], elsewhere)
        surroundings.close()
        if stream is not sys.stdout:
            with contextlib.suppress(OSError):
                stream.close()


def _close(made: Sequence[_Made], elsewhere: Elsewhere | None) -> None:
    from fscontract.contract.binding import Binding
    from fscontract.contract.pipelineports import PipelineBinding
    from fscontract.contract.suite.report import NotSetUp

    for one in made:
        if not isinstance(one, Binding | PipelineBinding | NotSetUp):
            one.close()
    if elsewhere is not None:
        elsewhere.close()


def _elsewhere(run: common.RunOptions) -> Elsewhere | None:
    """Where programs are run, if it is not in this process; nothing is started."""
    if run.spark is None:
        return None
    from fscontract.contract.suite.spread.target import Elsewhere

    return Elsewhere("spark", run.spark)


def _make(
    target: str,
    run: common.RunOptions,
    known: tuple[Known, ...],
    isolate: bool,
    elsewhere: Elsewhere | None,
    console: Console,
) -> _Made:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.masking import mask_url
    from fscontract.contract.suite.report import NotSetUp

    if isolate:
        return _isolated(target, run, known, console)
    console.set_up(target)
    try:
        if elsewhere is not None:
            from fscontract.contract.suite.spread.target import SpreadTarget

            return SpreadTarget(target, run, known, elsewhere)
        return common.resolve_any(target, run)
    except TargetError as error:
        return NotSetUp(mask_url(target), str(error))


def _isolated(
    target: str, run: common.RunOptions, known: tuple[Known, ...], console: Console
) -> Isolated | NotSetUp:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.masking import mask_url
    from fscontract.contract.suite.isolate.parent import Isolated
    from fscontract.contract.suite.report import NotSetUp

    console.stop()  # its line is drawn by a thread, of which a fork would know nothing
    with ExitStack() as stack:
        with held_back():
            one = Isolated(target, run, known, forks=isolates.by_default())
            stack.callback(one.close)
        console.set_up(target)
        try:
            one.set_up()
        except TargetError as error:
            return NotSetUp(mask_url(target), str(error))
        stack.pop_all()
        return one


def _require(one: _Made, clauses: tuple[Clause, ...]) -> None:
    """End with exit code 5 unless there is a clause about what the target is."""
    from fscontract.contract.clauses import STREAM
    from fscontract.contract.pipelineports import PipelineBinding
    from fscontract.contract.suite.report import NotSetUp

    if isinstance(one, NotSetUp):
        return
    apis = {one.api} if isinstance(one, PipelineBinding) else getattr(one, "apis", {STREAM})
    if not any(clause.api in apis for clause in clauses):
        common.say_error(common.NOTHING_SELECTED)
        raise click.exceptions.Exit(common.NOTHING)


def _require_baseline(baseline: Baseline, made: Sequence[_Made]) -> None:
    """MatrixError if the baseline is of other targets; those that can't be set up have no name."""
    from fscontract.contract.suite.report import NotSetUp

    names = [str(one.name) for one in made if not isinstance(one, NotSetUp)]
    if len(names) == len(made):
        baseline.require(names)


def _checked(
    target: str,
    one: _Made,
    run: common.RunOptions,
    clauses: tuple[Clause, ...],
    known: tuple[Known, ...],
    console: Console,
) -> tuple[Entry, KeyboardInterrupt | None]:
    """Return the entry of a target, and what has interrupted its run, if anything has."""
    from fscontract.contract.masking import mask_url
    from fscontract.contract.suite.report import NotSetUp

    try:
        return _run(target, one, run, clauses, known, console), None
    except KeyboardInterrupt as stopped:
        return console.so_far or NotSetUp(mask_url(target), _STOPPED), stopped


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
