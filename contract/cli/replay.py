"""`fscontract replay`: run the programs of failures again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from fscontract.contract.cli import options as cli_options
from fscontract.contract.cli import watched
from fscontract.contract.command_line import TARGET_OPTION, say, say_error
from fscontract.contract.runner import exit_codes

if TYPE_CHECKING:
    from fscontract.contract.binding import Binding
    from fscontract.contract.pipeline_bindings import PipelineBinding
    from fscontract.contract.runner.replay import ReplayResult
    from fscontract.contract.spec.profiles import Profile

T = TypeVar("T")


@dataclass(frozen=True)
class _Replay:
    """A replay file and its target."""

    path: Path
    data: dict[str, Any]
    target: str
    file: str | None
    content: Path | None
    #: A name or a path; None for the profile of the binding.
    profile: str | None
    encode: str | None


@click.command(cls=watched.WatchedCommand, short_help="Run failures again.")
@click.argument("words", metavar="[FILE|DIRECTORY]... [TARGET]", nargs=-1)
@click.option(
    "--profile", metavar="P", help="A profile to use instead of the one of the failed run."
)
@click.option("--trust", is_flag=True, help="Run the code that FILE names as its target.")
@TARGET_OPTION
@cli_options.FILE_OPTION
@cli_options.CONTENT_OPTION
@cli_options.ENCODE_OPTION
@click.option(
    "--script",
    "language",
    is_flag=False,
    flag_value="python",
    type=click.Choice(["python", "java", "junit"]),
    help="Print the failure as a script that needs only the library under test, and fscontract for"
    " a part of a pipeline; don't run it.",
)
@click.option("--issue", is_flag=True, help="Print the failure as an issue for its maintainers.")
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    profile: str | None,
    trust: bool,
    options: dict[str, str],
    file: str | None,
    content: Path | None,
    encode: str | None,
    language: str | None,
    issue: bool,
) -> None:
    """Run failures again from each FILE that `check` wrote, on TARGET or the one they failed on.

    A DIRECTORY stands for its replay files. Without arguments, the failures of the last `check` are
    run again.

    FILE contains the target, --file and --content, but no options and no secrets: pass them again.
    If its target is code, as file.py:callable, pass TARGET, too, or --trust.

    Exit codes: 0 all pass now, 1 one still fails, fails otherwise or ends the process, 2 usage, 3
    the target can't be used, 4 internal error of fscontract. Of several, the worst: 1, then 3.
    """
    from fscontract.contract.binding import TargetError

    paths, target = _split(words)
    replays = [
        _read(path, target, profile, trust, options, file, content, encode) for path in paths
    ]
    if language is not None or issue:
        ctx.exit(_print(replays, options, language or "", issue))
    codes = []
    for number, one in enumerate(replays):
        if number:
            click.echo()
        if len(replays) > 1:
            say(str(one.path))
        try:
            codes.append(_run(one, options))
        except TargetError as error:
            say_error(str(error))
            codes.append(exit_codes.SET_UP)
    ctx.exit(exit_codes.worst(codes))


def _print(replays: Sequence[_Replay], options: dict[str, str], language: str, issue: bool) -> int:
    """Print the script or the issue of a failure; return the exit code."""
    from fscontract.contract.binding import TargetError
    from fscontract.contract.script.calls import NoScript
    from fscontract.contract.text import redact

    option = "--issue" if issue else "--script"
    if len(replays) != 1:
        raise click.UsageError(f"{option} takes one FILE, got {len(replays)}")
    (one,) = replays
    if "scenario" in one.data and (issue or language != "python"):
        option = "--issue" if issue else f"--script {language}"
        raise click.UsageError(f"{one.path}: {option} takes a failure of a stream or a filesystem")
    try:
        if "scenario" in one.data:
            text = _scenario_script(one, options)
        else:
            text = _issue(one, options, language) if issue else _script(one, options, language)
    except NoScript as error:
        raise click.UsageError(f"{one.path}: no script: {error}") from None
    except TargetError as error:
        say_error(str(error))
        return exit_codes.SET_UP
    click.echo(redact(text, options), nl=False)
    return exit_codes.CONFORMS


def _resolved(one: _Replay, options: dict[str, str]) -> tuple[Binding, Profile]:
    """Return the binding of the target, and the profile of the replay."""
    from fscontract.contract.spec.profiles import load_profile
    from fscontract.contract.targets import resolve_target

    faulty, served = _needs(one.data)
    binding = _made(
        lambda: resolve_target(
            one.target, options, one.file, one.content, faulty, one.encode, served
        )
    )
    return binding, load_profile(one.profile or binding.default_profile)


def _part(one: _Replay, options: dict[str, str]) -> PipelineBinding:
    """Return the part of a pipeline that the target is; UsageError if it is something else."""
    from fscontract.contract.spec.clauses import clauses, read_id
    from fscontract.contract.targets import resolve_any

    binding = _made(lambda: resolve_any(one.target, options, one.file, one.content))
    api = clauses()[read_id(one.data["clause"])].api
    if binding.api != api:
        raise click.UsageError(
            f"{one.path}: expected a {api} as target, got a {binding.api}: {binding.name}"
        )
    return cast("PipelineBinding", binding)


def _made(make: Callable[[], T]) -> T:
    """Return the target, made within its time limit and in this process."""
    from fscontract.contract.runner import run_options

    home = os.getpid()
    with watched.within(run_options.set_up_limit(0)):
        target = make()
    run_options.leave_fork(home)
    return target


def _script(one: _Replay, options: dict[str, str], language: str) -> str:
    from fscontract.contract.runner.replay import failure_in
    from fscontract.contract.script.calls import Source
    from fscontract.contract.script.languages import script

    binding, profile = _resolved(one, options)
    source = Source(one.target, options, one.file, one.content)
    return script(language, binding, source, failure_in(binding, one.data, profile))


def _scenario_script(one: _Replay, options: dict[str, str]) -> str:
    from fscontract.contract.scenarios.check import scenarios_of
    from fscontract.contract.scenarios.replay import scenario_in
    from fscontract.contract.script.calls import Source
    from fscontract.contract.script.scenarios import scenario_script
    from fscontract.contract.spec.clauses import read_id

    binding, clause = _part(one, options), read_id(one.data["clause"])
    source = Source(one.target, options, one.file, one.content)
    scenario = scenario_in(binding, one.data)
    return scenario_script(binding, source, scenarios_of(binding), scenario, clause)


def _issue(one: _Replay, options: dict[str, str], language: str) -> str:
    from fscontract.contract.runner import replay as replaying
    from fscontract.contract.runner.replay import failure_in
    from fscontract.contract.script.calls import Source
    from fscontract.contract.script.issue import issue
    from fscontract.contract.script.languages import default_language, script

    binding, profile = _resolved(one, options)
    failure = failure_in(binding, one.data, profile)
    source = Source(one.target, options, one.file, one.content)
    language = language or default_language(binding)
    text = script(language, binding, source, failure)
    ends = watched.ending(f"{one.data.get('clause')}: ends the process", exit_codes.VIOLATION)
    result = replaying.replay(binding, one.data, profile, ends)
    return issue(failure, text, language, result.expected, result.actual)


def _split(words: tuple[str, ...]) -> tuple[list[Path], str | None]:
    """Return the files and the target: the last argument, unless it is alone or names files."""
    if not words:
        return _of_last_run(), None
    *first, last = words
    names_files = last.endswith(".json") or os.path.exists(last)
    if not first or ("://" not in last and names_files and not _is_named_target(last)):
        return [path for word in words for path in _files(Path(word))], None
    return [path for word in first for path in _files(Path(word))], last


def _is_named_target(word: str) -> bool:
    """Return whether the word is a target, whatever files there are."""
    from fscontract.contract.targets import FAULTY, PIPELINES, TARGETS, installed

    return any(word in installed(group) for group in (TARGETS, PIPELINES, FAULTY))


def _files(path: Path) -> list[Path]:
    """Return the replay files that an argument names."""
    from fscontract.contract.runner.replay_files import replays_in

    if not path.is_dir():
        return [path]
    files = replays_in(path)
    if not files:
        raise click.UsageError(f"{path}: no replay files in this directory")
    return files


def _of_last_run() -> list[Path]:
    """Return the replay files of the failures of the last `check` in this directory."""
    from fscontract.contract.runner.replay_files import DIRECTORY, load_last_runs

    paths = [DIRECTORY / Path(name).name for name in load_last_runs().replays]
    files = [path for path in paths if path.is_file()]
    if not files:
        raise click.UsageError(
            f"no replay files of a last run in {DIRECTORY}; pass a FILE that 'fscontract check' "
            "wrote, or run that first"
        )
    return files


def _read(
    path: Path,
    target: str | None,
    profile: str | None,
    trust: bool,
    options: dict[str, str],
    file: str | None,
    content: Path | None,
    encode: str | None,
) -> _Replay:
    """Read a replay file; raise UsageError if it, or its target, is invalid."""
    from fscontract.contract.program.arguments import ProgramError
    from fscontract.contract.runner.replay import validated

    data = _load(path)
    own = _text(data, "target", path)
    chosen = target or own
    if not chosen:
        raise click.UsageError(f"{path}: missing target; specify it, as in: replay {path} memory")
    if target is None and not trust:
        _check_trust(chosen, path)
    if chosen == own:
        _check_options(data, options, path)
        encode = encode or _encode_of(data, path, trust)
    if target is None and file is None and content is None:
        held = _text(data, "file", path), _text(data, "content", path)
        file, content = held[0], None if held[1] is None else Path(held[1])
    named = profile or _text(data, "profile", path, "a name")
    try:
        validated(data, str(path))
    except ProgramError as error:
        raise click.UsageError(str(error)) from None
    return _Replay(path, data, chosen, file, content, named, encode)


def _run(one: _Replay, options: dict[str, str]) -> int:
    """Run the program, print the result, and return the exit code."""
    from fscontract.contract.runner import replay as replaying
    from fscontract.contract.text import redact

    ends = watched.ending(f"{one.data.get('clause')}: ends the process", exit_codes.VIOLATION)
    if "scenario" in one.data:
        from fscontract.contract.scenarios.replay import replay as play

        result = play(_part(one, options), one.data, ends)
    else:
        binding, profile = _resolved(one, options)
        result = replaying.replay(binding, one.data, profile, ends)
    for line in _lines(result, one.data):
        say(redact(line, options))
    return exit_codes.CONFORMS if result.outcome == "passes now" else exit_codes.VIOLATION


def _needs(data: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether the requests of the target must be made to fail, and whether by its server."""
    from fscontract.contract.program.program import Program
    from fscontract.contract.program.server_faults import clause_of_server

    plan = Program.from_json(data["program"]).faults if "program" in data else None
    served = plan is not None and bool(clause_of_server(plan.kinds))
    return plan is not None and not served, served


def _lines(result: ReplayResult, data: dict[str, Any]) -> Iterator[str]:
    from fscontract.contract.program.program import Program

    yield f"{result.clause}: {result.outcome}"
    for earlier in data.get("before", []):
        yield f"  before     {Program.from_json(earlier)}"
    if "program" in data:
        yield f"  program    {Program.from_json(data['program'])}"
    if result.scenario:
        yield f"  scenario   {result.scenario}"
    for number, call in enumerate(result.trace, 1):
        # lines of an interleaving are numbered already
        label = f"{number:<10} " if "threads" not in data else ""
        yield f"  {label}{call}"
    if result.expected:
        yield f"  expected   {' or '.join(result.expected)}"
    yield f"  actual     {result.actual}"


def _check_trust(target: str, path: Path) -> None:
    """Refuse to run code that a file names, but the user does not."""
    from fscontract.contract.targets import names_code

    if names_code(target):
        again = shlex.join(["fscontract", "replay", str(path), target])
        raise click.UsageError(
            f"{path}: its target is code, which is run only if you name it, as in '{again}', "
            "or give --trust"
        )


def _encode_of(data: dict[str, Any], path: Path, trust: bool) -> str | None:
    """Return the function that a file names for --encode; refuse to run it without --trust."""
    encode = _text(data, "encode", path)
    if encode is not None and not trust:
        raise click.UsageError(
            f"{path}: its --encode is code, which is run only if you name it, as in "
            f"'--encode {shlex.quote(encode)}', or give --trust"
        )
    return encode


def _check_options(data: dict[str, Any], options: dict[str, str], path: Path) -> None:
    names = data.get("options", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise click.UsageError(f"{path}: options must be a list of names, got {names!r}")
    missing = [f"-o {name}=..." for name in names if name not in options]
    if missing:
        raise click.UsageError(
            f"{path}: replay files omit values of options; specify {' '.join(missing)}"
        )


def _text(data: dict[str, Any], key: str, path: Path, what: str = "a string") -> str | None:
    value = data.get(key)
    if value is None or isinstance(value, str):
        return value
    raise click.UsageError(f"{path}: {key} must be {what}, got {value!r}")


def _load(path: Path) -> dict[str, Any]:
    from fscontract.contract.untrusted import UntrustedError, load_json

    try:
        data = load_json(path)
    except UntrustedError as error:
        raise click.UsageError(str(error)) from None
    if not isinstance(data, dict):
        raise click.UsageError(f"{path}: not a replay file: expected a JSON object")
    return data
