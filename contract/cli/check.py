"""`fscontract check`: run the suite on targets and report."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import ParameterSource

from fscontract.contract.cli import completion, options, watched
from fscontract.contract.command_line import in_one_place, say, say_error
from fscontract.contract.runner import exit_codes

if TYPE_CHECKING:
    from fscontract.contract.check import InProcess
    from fscontract.contract.distributed.backend import LazyBackend
    from fscontract.contract.distributed.driver import DistributedTarget
    from fscontract.contract.isolation.parallel import Parallel
    from fscontract.contract.isolation.supervisor import Isolated
    from fscontract.contract.report.console import Console
    from fscontract.contract.runner.baseline import Baseline, Comparison
    from fscontract.contract.runner.result import Entry, NotSetUp
    from fscontract.contract.runner.run_options import RunOptions
    from fscontract.contract.runner.sandbox import Sandbox
    from fscontract.contract.spec.clauses import Clause
    from fscontract.contract.spec.known_failures import Known

    #: A target that was set up, by the place where it is checked.
    _Target: TypeAlias = InProcess | Isolated | Parallel | DistributedTarget


def read_baseline(path: Path | None, outputs: Sequence[Path]) -> Baseline | None:
    """Return the baseline of this file, if there is one. Raise MatrixError, UsageError."""
    if path is None:
        return None
    from fscontract.contract.runner.baseline import load_baseline

    if path.resolve() in {output.resolve() for output in outputs}:
        raise click.UsageError(
            f"{path}: the report would overwrite the baseline; choose another path"
        )
    return load_baseline(path)


def write_reports(paths: Mapping[str, Path | None], entries: Sequence[Entry]) -> None:
    """Write each report that has a path."""
    from importlib import import_module

    for kind, path in paths.items():
        if path is not None:
            render = import_module(f"fscontract.contract.report.{kind}").render
            text: str = render(entries)
            # names of files may contain surrogates, which JSON can escape
            path.write_text(text, encoding="utf-8", errors="backslashreplace")


def tell(entries: Sequence[Entry], baseline: Baseline | None) -> list[Comparison]:
    """Print the differences from the baseline, and report them to GitHub in its jobs."""
    compared = [] if baseline is None else baseline.compare(entries)
    if baseline is not None:
        from fscontract.contract.report.markdown import as_lines

        for line in as_lines(str(baseline.path), compared):
            click.echo(line)
    _report_to_github(entries, "" if baseline is None else str(baseline.path), compared)
    return compared


@contextmanager
def without_commands() -> Iterator[None]:
    """Return a context in which GitHub runs no printed line as a workflow command.

    Targets may print anything, and reports repeat their output.
    """
    from fscontract.contract.report.github import is_wanted

    if not is_wanted(os.environ):
        yield
        return
    token = secrets.token_hex(16)
    click.echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        click.echo(f"::{token}::")


def _report_to_github(
    entries: Sequence[Entry], baseline: str, compared: Sequence[Comparison]
) -> None:
    from fscontract.contract.report import github, markdown
    from fscontract.contract.report.markdown import as_markdown

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
            say_error("the report exceeds the size limit of the job summary")
    except OSError as error:
        say_error(f"can't write the job summary: {error.strerror or error}")


_PATH = click.Path(path_type=Path)
_STOPPED = "interrupted before there were results"
#: Sources of options that override pyproject.toml.
_GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


@click.command(short_help="Check targets for conformance.")
@click.argument(
    "targets",
    metavar="[TARGET...]",
    nargs=-1,
    shell_complete=completion.targets,
)
@options.run_options
@click.option(
    "--isolate/--no-isolate",
    default=None,
    help="Run each target in a separate process, and report programs that crash it: the default. "
    "--no-isolate is for debuggers.",
)
@click.option(
    "--jobs",
    "-j",
    metavar="N",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Run the programs in N processes.",
)
@click.option(
    "--spark",
    metavar="MASTER",
    help="Run the programs in the executors of Spark, such as local[2].",
)
@click.option(
    "--last-failed",
    is_flag=True,
    help="Only the clauses that failed in the last run of the target with these options.",
)
@click.option("--fail-fast", "-x", is_flag=True, help="Stop at the first failure.")
@click.option("--known", metavar="FILE", type=_PATH, help="A file of known failures (YAML).")
@click.option("--json", metavar="FILE", type=_PATH, help="Write a JSON report.")
@click.option("--junit", metavar="FILE", type=_PATH, help="Write JUnit XML.")
@click.option("--html", metavar="FILE", type=_PATH, help="Write a self-contained HTML page.")
@click.option("--markdown", metavar="FILE", type=_PATH, help="Write Markdown.")
@click.option(
    "--scripts",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write each failure as a script. It needs only the library under test, and fscontract for"
    " a part of a pipeline.",
)
@click.option(
    "--baseline",
    metavar="OLD.json",
    type=_PATH,
    help="Fail only on regressions from this JSON report.",
)
@click.option(
    "--traceback", is_flag=True, help="Print the tracebacks of exceptions that the target raised."
)
@click.option("--show-skipped", is_flag=True, help="List the clauses that were not verified.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the verdicts.")
@click.pass_context
def check(
    ctx: click.Context,
    /,
    *,
    targets: tuple[str, ...],
    isolate: bool | None,
    last_failed: bool,
    file: tuple[str, ...],
    content: tuple[Path, ...],
    known: Path | None,
    json: Path | None,
    junit: Path | None,
    html: Path | None,
    markdown: Path | None,
    scripts: Path | None,
    baseline: Path | None,
    traceback: bool,
    show_skipped: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Check TARGET for conformance, and exit 0 if it conforms.

    TARGET is a name such as memory or local, a URL, package.module:callable or file.py:callable; a
    callable returns a filesystem, or a binding to a part of a pipeline. Given several targets, the
    JSON report is a list. Without TARGET it checks those of the next pyproject.toml, from
    [[tool.fscontract.target]].

    Exit codes: 0 conforms, 1 violation or a known failure that is fixed, 2 usage, 3 the target
    could not be set up or the run is incomplete, 4 internal error of fscontract, 5 nothing selected
    or verified; 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP. With --baseline, 1 means a new or
    different failure, or a clause that is no longer verified.
    """
    from fscontract.contract.runner.timeouts import held_back

    run = options.collect(values)
    _require_compatible(run, isolate)
    apart = watched.by_default() if isolate is None else isolate
    reports = {"json": json, "junit": junit, "html": html, "markdown": markdown}
    options.check_writable(paths := [path for path in reports.values() if path is not None])
    old = read_baseline(baseline, paths)
    requests = [_with_files(r, _pairs(file, content)) for r in _requests(ctx, targets, run, known)]
    if last_failed:
        requests = [_only_failed(request) for request in requests]
    _expect_clauses(ctx, requests)
    entries: list[Entry] = []
    try:
        with without_commands():
            shown = {"quiet": quiet, "tracebacks": traceback, "skipped": show_skipped}
            _run_all(entries, requests, apart, old, shown)
    except KeyboardInterrupt:
        if entries:
            with held_back():
                _finish(requests, entries, reports, scripts)
        raise
    _finish(requests, entries, reports, scripts)
    ctx.exit(_exit_code(entries, tell(entries, old)))


def _require_compatible(run: RunOptions, isolate: bool | None) -> None:
    """Raise UsageError for options that exclude each other."""
    given = {
        "--isolate": bool(isolate),
        "--fail-fast": run.fail_fast,
        "--jobs": run.jobs > 1,
        "--spark": run.spark is not None,
    }
    for one, other in (
        ("--isolate", "--spark"),
        ("--fail-fast", "--spark"),
        ("--jobs", "--spark"),
        ("--fail-fast", "--jobs"),
    ):
        if given[one] and given[other]:
            raise click.UsageError(f"{one} and {other} are mutually exclusive")


def _finish(
    requests: Sequence[_Request],
    entries: Sequence[Entry],
    reports: Mapping[str, Path | None],
    scripts: Path | None,
) -> None:
    """Record the run, and write its reports and scripts."""
    _record(requests, entries)
    write_reports(reports, entries)
    if scripts is not None:
        _write_scripts(scripts, entries)


def _write_scripts(directory: Path, entries: Sequence[Entry]) -> None:
    """Write the scripts of failures that have one; print where, and why others have none."""
    from fscontract.contract.script.languages import write_scripts

    try:
        written, missing = write_scripts(directory, entries)
    except OSError as error:
        raise click.UsageError(f"--scripts: {directory}: {error.strerror or error}") from None
    say(f"scripts: {written} in {directory}")
    for clause, reason in missing:
        say(f"no script for {clause}: {reason}")


def _expect_clauses(ctx: click.Context, requests: Sequence[_Request]) -> None:
    """End the command if the clauses of a target are none."""
    if not all(request.clauses for request in requests):
        say_error(options.NOTHING_SELECTED)
        ctx.exit(exit_codes.NOTHING)


def _exit_code(entries: Sequence[Entry], comparisons: Sequence[Comparison]) -> int:
    """Return the exit code of a report; with a baseline only regressions count as violations."""
    codes = [e.exit_code_if_known if comparisons else e.exit_code for e in entries]
    codes += [exit_codes.VIOLATION for comparison in comparisons if comparison.worse]
    return exit_codes.worst(codes)


@dataclass(frozen=True)
class _Request:
    """One target, and the options of its run."""

    target: str
    run: RunOptions
    clauses: tuple[Clause, ...]
    known: tuple[Known, ...]
    #: The files of a read-only target, with their local copies.
    files: tuple[tuple[str, Path], ...] = ()

    @property
    def parts(self) -> list[_Request]:
        """The requests of single runs: one for each file."""
        runs = [replace(self.run, file=file, content=content) for file, content in self.files]
        return [replace(self, run=run, files=()) for run in runs] or [self]


def _with_files(request: _Request, files: Sequence[tuple[str, Path]]) -> _Request:
    """Return the request with the files of the command line, or those of its configuration."""
    run = request.run
    if not files and run.content is not None and run.content.is_dir():
        files = _pairs([] if run.file is None else [run.file], [run.content])
    return replace(request, files=tuple(files))


def _requests(
    ctx: click.Context, targets: Sequence[str], run: RunOptions, known: Path | None
) -> list[_Request]:
    """Return the runs that the command line and the configuration request.

    Options of the command line override those of pyproject.toml. Raise UsageError if there is no
    target.
    """
    from fscontract.contract.config import find_config
    from fscontract.contract.runner import run_options
    from fscontract.contract.spec.clauses import read_name

    config = find_config(Path.cwd())
    configured = [config.runs(target) for target in targets] or [config.runs()]
    given = {n for n in ctx.params if ctx.get_parameter_source(n) in _GIVEN}
    load, requests = lru_cache(_load_known), []
    for values in chain.from_iterable(configured):
        fields = {n: v for n, v in values.items() if n not in (*given, "target", "known")}
        fields["options"] = {**values.get("options", {}), **run.options}
        request = replace(run, **fields)
        if request.profile is not None:
            run_options.profile_of(request.profile, request)
        path = known if "known" in given else values.get("known")
        clauses = run_options.selected(request, anything=True)
        target = read_name("targets", values["target"])
        requests.append(_Request(target, request, clauses, load(path)))
    if not requests:
        raise click.UsageError(
            "Missing argument 'TARGET...'; pass a target, or list targets as "
            "[[tool.fscontract.target]] in pyproject.toml"
        )
    return requests


def _only_failed(request: _Request) -> _Request:
    """Return the request for the clauses that failed last; for all of them if none did."""
    from fscontract.contract.runner.replay_files import load_last_runs
    from fscontract.contract.text import mask_url

    failed = load_last_runs().failed_of(_key(request))
    if not failed:
        target = mask_url(request.target)
        say(f"fscontract: {target}: no failure is recorded; checking all clauses", err=True)
        return request
    clauses = tuple(clause for clause in request.clauses if clause.id in failed)
    run = replace(request.run, clauses=tuple(clause.id for clause in clauses))
    return replace(request, run=run, clauses=clauses)


def _record(requests: Sequence[_Request], entries: Sequence[Entry]) -> None:
    """Record which clauses failed, and their replay files."""
    from fscontract.contract.runner.replay_files import load_last_runs, save_last_runs
    from fscontract.contract.runner.result import NotSetUp

    runs = replace(load_last_runs(), replays=[])
    for request, entry in zip(requests, entries, strict=False):  # not all may have been checked
        if not isinstance(entry, NotSetUp):
            runs.take(_key(request), entry.clauses)
    save_last_runs(runs)


def _key(request: _Request) -> str:
    from fscontract.contract.runner.replay_files import key_of
    from fscontract.contract.runner.run_options import replay_fields

    return key_of(replay_fields(request.target, request.parts[0].run))


def _load_known(path: Path | None) -> tuple[Known, ...]:
    if path is None:
        return ()
    from fscontract.contract.spec.known_failures import expired, load_known

    known = load_known(path)
    for line in expired(known, date.today()):
        say(f"fscontract: {line}", err=True)
    return known


def _run_all(
    entries: list[Entry],
    requests: Sequence[_Request],
    isolate: bool,
    baseline: Baseline | None,
    shown: Mapping[str, bool],
) -> None:
    """Check the targets one by one; `entries` keeps the results after Ctrl-C, too.

    `shown` are arguments of the console.
    """
    from fscontract.contract.distributed.backend import backend_of
    from fscontract.contract.report.console import Console
    from fscontract.contract.runner.result import NotSetUp
    from fscontract.contract.runner.sandbox import Sandbox, private_copy
    from fscontract.contract.runner.timeouts import held_back

    sandbox, stream = Sandbox(), private_copy(sys.stdout)
    console = Console(stream, **shown)
    prepared: list[tuple[_Request, list[_Target | NotSetUp]]] = []
    backend = None if isolate else backend_of(requests[0].run)
    try:
        for request in requests:  # all targets are validated before the first one runs
            prepared.append((request, []))
            for part in request.parts:
                prepared[-1][1].append(_make(part, isolate, backend, console))
                sandbox.restore()
                _require(prepared[-1][1][-1], request.clauses)
        made = _made(prepared)
        if baseline is not None and len(made) == sum(len(targets) for _, targets in prepared):
            baseline.require([target.name for target in made])
        for request, targets in prepared:
            entry, stopped = _checked_files(request, targets, console, sandbox)
            entries.append(entry)
            if stopped is not None:
                with contextlib.suppress(OSError):  # the terminal was closed
                    console.finish(entry)
                raise stopped
            console.finish(entry)
            if isinstance(entry, NotSetUp) and not in_one_place():
                say_error(entry.message)
            if request.run.fail_fast and entry.exit_code != exit_codes.CONFORMS:
                _say_left_out(prepared, len(entries))
                break
    finally:
        with contextlib.suppress(OSError):
            console.stop()
        with held_back():
            for closable in (*_made(prepared), *([] if backend is None else [backend])):
                closable.close()
        sandbox.close()
        if stream is not sys.stdout:
            with contextlib.suppress(OSError):
                stream.close()


def _say_left_out(
    prepared: Sequence[tuple[_Request, Sequence[_Target | NotSetUp]]], done: int
) -> None:
    """Name the targets that are not checked, because one before them failed."""
    from fscontract.contract.text import mask_url

    names = [mask_url(request.target) for request, _ in prepared[done:]]
    if names:
        say(f"fscontract: stopped at the first failure; not checked: {', '.join(names)}", err=True)


def _made(prepared: Sequence[tuple[_Request, Sequence[_Target | NotSetUp]]]) -> list[_Target]:
    """Return the targets that could be set up; the others have no name."""
    from fscontract.contract.runner.result import NotSetUp

    every = [target for _, targets in prepared for target in targets]
    return [target for target in every if not isinstance(target, NotSetUp)]


def _make(
    request: _Request, isolate: bool, backend: LazyBackend | None, console: Console
) -> _Target | NotSetUp:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.check import InProcess
    from fscontract.contract.runner.result import NotSetUp
    from fscontract.contract.runner.run_options import resolve_any
    from fscontract.contract.text import mask_url

    if isolate:
        return _isolated(request, console)
    target, run = request.target, request.run
    console.set_up(target)
    try:
        if backend is not None:
            from fscontract.contract.distributed.driver import DistributedTarget

            return DistributedTarget(target, run, request.known, backend)
        return InProcess(resolve_any(target, run), run, request.clauses, request.known, target)
    except TargetError as error:
        return NotSetUp(mask_url(target), str(error))


def _isolated(request: _Request, console: Console) -> Isolated | Parallel | NotSetUp:
    from fscontract.contract.binding import TargetError
    from fscontract.contract.isolation.parallel import Parallel
    from fscontract.contract.isolation.supervisor import Isolated
    from fscontract.contract.runner.result import NotSetUp
    from fscontract.contract.runner.timeouts import held_back
    from fscontract.contract.text import mask_url

    console.stop()  # a thread draws the progress line, which a fork would lack
    with ExitStack() as stack:
        with held_back():
            kind = Parallel if request.run.jobs > 1 else Isolated
            one = kind(request.target, request.run, request.known, forks=watched.by_default())
            stack.callback(one.close)
        console.set_up(request.target)
        try:
            one.set_up()
        except TargetError as error:
            return NotSetUp(mask_url(request.target), str(error))
        stack.pop_all()
        return one


def _require(target: _Target | NotSetUp, clauses: tuple[Clause, ...]) -> None:
    """End with exit code 5 unless there is a clause for this kind of target."""
    from fscontract.contract.runner.result import NotSetUp

    if isinstance(target, NotSetUp) or any(clause.api in target.apis for clause in clauses):
        return
    say_error(options.NOTHING_SELECTED)
    raise click.exceptions.Exit(exit_codes.NOTHING)


def _checked_files(
    request: _Request, targets: Sequence[_Target | NotSetUp], console: Console, sandbox: Sandbox
) -> tuple[Entry, KeyboardInterrupt | None]:
    """Check a target, once for each of its files, and merge the results; else as `_checked`."""
    from fscontract.contract.runner.merged_result import merged
    from fscontract.contract.runner.run_options import leave_fork

    home = os.getpid()
    entries: list[Entry] = []
    stopped = None
    for part, target in zip(request.parts, targets, strict=True):
        if len(targets) > 1:
            console.say_file(len(entries) + 1, len(targets), str(part.run.file))
        entry, stopped = _checked(part, target, console)
        leave_fork(home)
        entries.append(entry.redacted(request.run.options))
        sandbox.restore(last=True)
        failed = entry.exit_code != exit_codes.CONFORMS
        if stopped is not None or (request.run.fail_fast and failed):
            break
    return merged(entries), stopped


def _checked(
    request: _Request, target: _Target | NotSetUp, console: Console
) -> tuple[Entry, KeyboardInterrupt | None]:
    """Return the entry of a target, and the exception that interrupted its run, if any."""
    from fscontract.contract.binding import TargetError
    from fscontract.contract.runner.result import NotSetUp
    from fscontract.contract.text import mask_url

    if isinstance(target, NotSetUp):
        return target, None
    try:
        return target.check(console), None
    except TargetError as error:
        return NotSetUp(target.name, str(error)), None
    except KeyboardInterrupt as stopped:
        return console.so_far or NotSetUp(mask_url(request.target), _STOPPED), stopped
    finally:
        console.stop()


#: The most files of a target: the suite runs once for each of them.
_MOST_FILES = 20


def _pairs(files: Sequence[str], contents: Sequence[Path]) -> list[tuple[str, Path]]:
    """Return each file with its local copy. Raise UsageError.

    A directory as the copy stands for the files in it; they have the same names below the URL that
    goes with it, or below the target if there is none.
    """
    if not files and contents and all(content.is_dir() for content in contents):
        files = [""] * len(contents)
    if len(files) != len(contents):
        raise click.UsageError(
            "--file and --content must be used together, once for each file; "
            f"got {len(files)} --file and {len(contents)} --content"
        )
    found = [
        pair
        for file, content in zip(files, contents, strict=True)
        for pair in _local_copies(file, content)
    ]
    if len(found) > _MOST_FILES:
        raise click.UsageError(
            f"--content: {len(found)} files; at most {_MOST_FILES} are checked, as the suite runs "
            "once for each"
        )
    return found


def _local_copies(file: str, content: Path) -> Iterator[tuple[str, Path]]:
    if not content.is_dir():
        yield file, content
        return
    names = sorted(path.relative_to(content) for path in content.rglob("*") if path.is_file())
    shown = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    if not shown:
        raise click.UsageError(f"--content: no files in directory: {content}")
    for name in shown:
        base = f"{file.rstrip('/')}/" if file else ""
        yield f"{base}{name.as_posix()}", content / name
