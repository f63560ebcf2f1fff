"""Options and exit codes that the subcommands share. Imports nothing but click and the standard
library before a command runs, so that `--help` is quick."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fscontract.contract.cli import completion, watched

if TYPE_CHECKING:
    from fscontract.contract.binding import Binding
    from fscontract.contract.pipeline_bindings import PipelineBinding
    from fscontract.contract.runner.crashes import Crash
    from fscontract.contract.runner.settings import Settings
    from fscontract.contract.spec.clauses import Clause
    from fscontract.contract.spec.known_failures import Known
    from fscontract.contract.spec.profiles import Profile

CONFORMS, VIOLATION, USAGE, SET_UP, INTERNAL, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
#: That of a command whose output nobody reads any more, as a shell has it for SIGPIPE.
CLOSED = 141
#: With several targets the first of these that occurs is the exit code.
_WORST = (VIOLATION, SET_UP, NOTHING, CONFORMS)
#: How long threads that were left may hold up the end of the process, in seconds.
_FAREWELL = 2.0
#: Characters of a line on stderr; the middle of a longer one is left out.
_LONGEST = 2000
#: How long a target may take to be made: so many times as long as a program, and this at least.
_SET_UP_PROGRAMS, _SET_UP = 6, 60.0
#: Where replay files go.
_REPLAYS = Path(".fscontract")
_Function = TypeVar("_Function", bound=Callable[..., Any])

NOTHING_SELECTED = (
    "no testable clause is selected; see 'fscontract list' (those of faults need --faults)"
)


@dataclass(frozen=True)
class RunOptions:
    """What the options of a run say, before anything is loaded."""

    profile: str | None
    features: tuple[str, ...]
    clauses: tuple[str, ...]
    level: str
    effort: str
    faults: str | None
    seed: int
    timeout: float
    options: dict[str, str]
    file: str | None
    content: Path | None
    #: The master of Spark whose executors run the programs, if it is not this process.
    spark: str | None = None


def exit_code_of(error: Exception) -> int | None:
    """The exit code for an error that is the user's or the target's, None for one of ours."""
    from fscontract.contract.binding import TargetError
    from fscontract.contract.program.arguments import ProgramError
    from fscontract.contract.report.matrix import MatrixError
    from fscontract.contract.spec.clauses import ClauseError
    from fscontract.contract.spec.known_failures import KnownError
    from fscontract.contract.spec.profiles import ProfileError
    from fscontract.contract.targets import UsageError

    if isinstance(error, TargetError):
        return SET_UP
    usage = (UsageError, ClauseError, ProfileError, KnownError, ProgramError, MatrixError)
    return USAGE if isinstance(error, usage) else None


def say(message: str, err: bool = False) -> None:
    """Print `message`, which may repeat what others wrote, so that it can't drive a terminal.

    On stderr it prints nothing if that is closed.
    """
    from fscontract.contract.text import printable

    closed = (OSError, ValueError, AttributeError) if err else ()
    with contextlib.suppress(*closed):
        click.echo(printable(message), err=err)


def say_error(message: str) -> None:
    """One line on stderr for each line of `message`."""
    for line in message.split("\n"):
        shown = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 200]} ... {line[-200:]}"
        say(f"fscontract: error: {shown}", err=True)


def say_internal(error: BaseException, traceback: bool) -> None:
    """Print a fault of the kit as a line that says where to report it, after its traceback."""
    from fscontract.contract.runner.internal_errors import REPORT, fault_of

    fault = fault_of(error)
    if traceback:
        for line in fault.trace.splitlines():
            say(line, err=True)
    say(f"fscontract: internal error: {fault.line}; {REPORT}", err=True)


def in_one_place() -> bool:
    """Whether stdout and stderr are one file, pipe or terminal: then one of them says it."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):  # not files, or closed
        return False


def leave_anyway(code: int, before: Collection[threading.Thread]) -> None:
    """See to it that the process ends, though the target has left threads that never will.

    `before` are the threads that were there when the command began.
    """

    def leave() -> None:
        time.sleep(_FAREWELL)
        os._exit(code)

    left = (t for t in threading.enumerate() if t not in before and not t.daemon)
    if any(t is not threading.main_thread() for t in left):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        threading.Thread(target=leave, daemon=True).start()


def worst(codes: Sequence[int]) -> int:
    """The exit code of several targets' codes."""
    return next(code for code in _WORST if code in codes)


def check_writable(paths: Sequence[Path]) -> None:
    """UsageError unless the paths differ and each can be written; none of them changes."""
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


def _seed(ctx: click.Context, param: click.Parameter, value: str) -> int:
    if value == "random":
        return secrets.randbelow(2**31)
    if not (value.isascii() and value.isdigit()):
        raise click.BadParameter(f"a whole number from 0, or 'random', not {value!r}")
    return int(value)


def _commas(
    ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None
) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else value or ()
    return tuple(part.strip() for text in given for part in text.split(",") if part.strip())


def pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """A click callback: KEY=VALUE texts as a dictionary; values never get into a message."""
    found: dict[str, str] = {}
    for number, text in enumerate(value, 1):
        key, equals, rest = text.partition("=")
        if not equals or not key:  # the text may be a secret: it is not repeated
            raise click.BadParameter(f"number {number} is not of the form key=value")
        if key in found:
            raise click.BadParameter(f"{key!r} is given twice")
        found[key] = rest
    return found


#: The options that say how to get to a target.
TARGET_OPTION = click.option(
    "-o",
    "--option",
    "options",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="An option for the target, such as a storage option; may be repeated.",
)
FILE_OPTION = click.option("--file", metavar="URL", help="A file that a read-only target holds.")
CONTENT_OPTION = click.option(
    "--content",
    metavar="LOCALFILE",
    type=click.Path(path_type=Path),
    help="A local copy of the bytes of --file.",
)
_OPTIONS = (
    click.option(
        "--profile",
        metavar="P",
        help="What the target declares: a name or a file.",
        shell_complete=completion.profiles,
    ),
    click.option(
        "--features",
        metavar="A,B",
        callback=_commas,
        help="Features besides the profile's.",
        shell_complete=completion.features,
    ),
    click.option(
        "--effort",
        type=click.Choice(["quick", "normal", "deep"]),
        default="quick",
        show_default=True,
        help="How many programs are run.",
    ),
    click.option(
        "--seed",
        metavar="N|random",
        default="0",
        callback=_seed,
        show_default=True,
        help="Seed of generated programs: runs of one seed are alike; 'random' picks one.",
    ),
    click.option(
        "--timeout",
        metavar="S",
        type=click.FloatRange(min=0, min_open=True),
        default=10.0,
        show_default=True,
        help="Seconds after which a program counts as hanging.",
    ),
    TARGET_OPTION,
    FILE_OPTION,
    CONTENT_OPTION,
)


#: Those that leave clauses out, or add some.
_SELECTION = (
    click.option(
        "--clauses",
        metavar="GLOB",
        multiple=True,
        callback=_commas,
        help="Only these clauses; may be repeated, or hold several after commas.",
        shell_complete=completion.clauses,
    ),
    click.option(
        "--level",
        type=click.Choice(["must", "should", "all"]),
        default="all",
        show_default=True,
        help="Only MUST, or MUST and SHOULD.",
    ),
    click.option(
        "--faults",
        type=click.Choice(["quick", "normal", "deep"]),
        help="Also run programs while requests fail; as many as this says.",
    ),
)
#: Their values in a run of all clauses but those of faults.
WHOLE: dict[str, Any] = {"clauses": (), "level": "all", "faults": None}


def run_options(function: _Function) -> _Function:
    """Add the options of a run; the command gets them with `collect`."""
    for option in reversed((*_OPTIONS[:2], *_SELECTION, *_OPTIONS[2:])):
        function = option(function)
    return function


def infer_options(function: _Function) -> _Function:
    """Add those that go with `WHOLE`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def collect(values: dict[str, Any]) -> RunOptions:
    """The options that `run_options` added, out of a command's keyword arguments; what ids of old
    are taken for is told."""
    from fscontract.contract.spec.clauses import notices

    fields = RunOptions.__dataclass_fields__
    run = RunOptions(**{name: values[name] for name in fields if name in values})
    for line in notices(run.clauses):
        say(f"fscontract: {line}", err=True)
    return run


def selected(run: RunOptions, anything: bool = False) -> tuple[Clause, ...]:
    """The testable clauses of streams, or of `anything`, that the options select."""
    from fscontract.contract.spec.clauses import FAULTS, STREAM, Level, select

    levels = {
        "must": {Level.MUST},
        "should": {Level.MUST, Level.SHOULD},
        "all": set(Level),
    }[run.level]
    found = (c for c in select(run.clauses) if anything or c.api == STREAM)
    chosen = (c for c in found if c.testable and c.level in levels)
    return tuple(c for c in chosen if c.document != FAULTS or run.faults is not None)


def resolve(target: str, run: RunOptions) -> Binding:
    """The binding of a target; TargetError or UsageError."""
    from fscontract.contract.targets import resolve_target

    faulty = run.faults is not None
    home = os.getpid()
    with watched.within(set_up_limit(run.timeout)):
        found = resolve_target(target, run.options, run.file, run.content, faulty)
    leave_fork(home)
    return found


def resolve_any(target: str, run: RunOptions) -> Binding | PipelineBinding:
    """What is to be checked, a part of a pipeline perhaps; TargetError or UsageError."""
    from fscontract.contract.targets import resolve_any

    faulty = run.faults is not None
    home = os.getpid()
    found = resolve_any(target, run.options, run.file, run.content, faulty)
    leave_fork(home)
    return found


def set_up_limit(timeout: float) -> float:
    """Return how many seconds a target may take to be made; `timeout` is that of a program."""
    return max(_SET_UP, _SET_UP_PROGRAMS * timeout)


def leave_fork(home: int) -> None:
    """End this process if it is a fork of `home` that a target made: that one makes the report."""
    if os.getpid() != home:
        os._exit(CONFORMS)


def profile_of(name: str, run: RunOptions) -> Profile:
    """The profile the user chose, or `name`, with the features the user added."""
    from fscontract.contract.spec.profiles import load_profile

    return load_profile(run.profile or name).with_features(run.features)


def settings_for(
    target: str,
    binding: Binding,
    run: RunOptions,
    clauses: tuple[Clause, ...],
    known: Sequence[Known],
    crashes: tuple[Crash, ...] = (),
    until: tuple[str, int] | None = None,
) -> Settings:
    """The settings of a run on one target; known failures are those of file and profile."""
    from fscontract.contract.runner.settings import Settings
    from fscontract.contract.spec.known_failures import applying

    profile = profile_of(binding.default_profile, run)
    return Settings(
        profile=profile,
        clauses=clauses,
        effort=run.effort,
        faults=run.faults,
        seed=run.seed,
        known=applying(known, profile.known, profile.name, binding.name),
        timeout=run.timeout,
        replays=_REPLAYS if os.access(".", os.W_OK) else None,
        way=_way(target, run),
        crashes=crashes,
        until=until,
    )


def _way(target: str, run: RunOptions) -> dict[str, Any]:
    """What a replay needs to get to the target again; of options, which may be secret, the names
    only."""
    from fscontract.contract.masking import mask_url

    way: dict[str, Any] = {"target": mask_url(target)}
    if run.options:
        way["options"] = sorted(run.options)
    if run.profile is not None:
        way["profile"] = run.profile
    if run.file is not None and run.content is not None:
        way |= {"file": mask_url(run.file), "content": str(run.content)}
    return way


def expired(known: Sequence[Known], today: date) -> list[str]:
    """A line for each known failure that counts again because its day has passed."""
    return [
        f"the known failure of {k.clause} expired on {k.until}: {k.reason}"
        for k in known
        if k.until is not None and today > k.until
    ]
