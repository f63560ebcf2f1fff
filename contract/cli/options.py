"""Options that the subcommands share.

Imports only click and the standard library before a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fscontract.contract.cli import completion
from fscontract.contract.command_line import TARGET_OPTION

if TYPE_CHECKING:
    from fscontract.contract.runner.run_options import RunOptions

_Function = TypeVar("_Function", bound=Callable[..., Any])

NOTHING_SELECTED = (
    "no testable clause is selected; see 'fscontract list' (those of faults need --faults, those "
    "of server-faults --server-faults)"
)


def check_writable(paths: Sequence[Path]) -> None:
    """Raise UsageError unless the paths differ and each can be written; change no file."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise click.UsageError("two reports have the same path")
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
        raise click.BadParameter(f"expected a whole number from 0, or 'random'; got {value!r}")
    return int(value)


def _budget(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value in (None, "none"):
        return None if value is None else math.inf
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise click.BadParameter(f"expected a number of seconds above 0, or 'none', got {value!r}")
    return seconds


def _commas(
    ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None
) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else value or ()
    return tuple(part.strip() for text in given for part in text.split(",") if part.strip())


def _strict(ctx: click.Context, param: click.Parameter, value: Any) -> tuple[str, ...]:
    chosen = _commas(ctx, param, value)
    for word in chosen:
        if word not in STRICT:
            raise click.BadParameter(f"expected {' or '.join(STRICT)}, got {word!r}")
    return tuple(dict.fromkeys(chosen))


#: The values of `--strict`; without one, it means the first.
STRICT = ("inherited", "hadoop")


class _Strict(click.Option):
    """An option whose value may be left out; the next argument counts only if it is one.

    So `--strict memory` checks the target memory, and `hadoop` is the value behind `--strict`.
    """

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Complete the option where it has no value, before click parses the arguments."""
        super().add_to_parser(parser, ctx)
        parse = parser.parse_args
        parser.parse_args = lambda args: parse(_completed(args))


def _completed(args: Sequence[str]) -> list[str]:
    """Return the arguments with a value behind each `--strict`."""
    end = args.index("--") if "--" in args else len(args)
    completed: list[str] = []
    for index, word in enumerate(args):
        following = args[index + 1] if index + 1 < end else ""
        bare = word == "--strict" and index < end
        has_value = all(part in STRICT for part in following.split(","))
        completed.append(f"--strict={STRICT[0]}" if bare and not has_value else word)
    return completed


_FILES = (
    click.option(
        "--file",
        metavar="URL",
        multiple=True,
        help="URL of a file on a read-only target; may be repeated.",
    ),
    click.option(
        "--content",
        metavar="LOCALFILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="A local copy of --file, once for each, or a directory with copies.",
    ),
)
FILE_OPTION = click.option("--file", metavar="URL", help="URL of a file on a read-only target.")
CONTENT_OPTION = click.option(
    "--content",
    metavar="LOCALFILE",
    type=click.Path(path_type=Path),
    help="A local copy of --file.",
)
ENCODE_OPTION = click.option(
    "--encode",
    metavar="FUNCTION",
    help="For a TARGET that opens a path: module:function or file.py:function that returns the "
    "stored form of bytes, such as gzip:compress.",
)
_OPTIONS = (
    click.option(
        "--profile",
        metavar="P",
        help="A profile name or file: the declared features.",
        shell_complete=completion.profiles,
    ),
    click.option(
        "--features",
        metavar="A,B",
        callback=_commas,
        help="Features to add to the profile.",
        shell_complete=completion.features,
    ),
    click.option(
        "--effort",
        type=click.Choice(["quick", "normal", "deep"]),
        default="quick",
        show_default=True,
        help="The number of programs to run.",
    ),
    click.option(
        "--seed",
        metavar="N|random",
        default="0",
        callback=_seed,
        show_default=True,
        help="Seed of generated programs, for reproducible runs; 'random' picks one.",
    ),
    click.option(
        "--timeout",
        metavar="S",
        type=click.FloatRange(min=0, min_open=True),
        default=10.0,
        show_default=True,
        help="The timeout of a call in seconds.",
    ),
    click.option(
        "--fail-on",
        metavar="A,B",
        callback=_commas,
        help="Fail only for these consequences: data, position, hang, leak, error, cost, claim.",
        shell_complete=completion.consequences,
    ),
    click.option(
        "--strict",
        cls=_Strict,
        metavar="[inherited|hadoop]",
        multiple=True,
        callback=_strict,
        help="Fail for failures inherited from base classes of other packages, too (inherited, the "
        "default value), or where Hadoop's own tests are stricter than its documents (hadoop).",
    ),
    click.option(
        "--budget",
        metavar="S|none",
        callback=_budget,
        help="The time limit of a run in seconds: 60 at quick, 600 at normal, none at deep.",
    ),
    TARGET_OPTION,
    *_FILES,
    ENCODE_OPTION,
)


#: Options that remove clauses, or add some.
_SELECTION = (
    click.option(
        "--clauses",
        metavar="GLOB",
        multiple=True,
        callback=_commas,
        help="Only these clauses, separated by commas; may be repeated.",
        shell_complete=completion.clauses,
    ),
    click.option(
        "--exclude",
        metavar="GLOB",
        multiple=True,
        callback=_commas,
        help="Without these clauses, separated by commas; may be repeated.",
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
        help="Also run programs while requests fail; their number.",
    ),
    click.option(
        "--server-faults",
        is_flag=True,
        help="Also run programs while a server on loopback misbehaves; {url}, {host}, {bucket}, "
        "{key}, {secret} and {region} in TARGET and -o stand for it.",
    ),
)
#: Their values in a run of all clauses except those of faults.
WHOLE: dict[str, Any] = {
    "clauses": (),
    "exclude": (),
    "level": "all",
    "faults": None,
    "server_faults": False,
}


def run_options(function: _Function) -> _Function:
    """Add the options of a run; the command gets them with `collect`."""
    for option in reversed((*_OPTIONS[:2], *_SELECTION, *_OPTIONS[2:])):
        function = option(function)
    return function


def infer_options(function: _Function) -> _Function:
    """Add the options that can be combined with `WHOLE`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def collect(values: dict[str, Any]) -> RunOptions:
    """Return the options that `run_options` added, from a command's keyword arguments."""
    from fscontract.contract.runner.run_options import RunOptions

    fields = RunOptions.__dataclass_fields__
    for name in ("file", "content"):
        if len(values.get(name, ())) > 1:
            raise click.UsageError(f"--{name}: only 'fscontract check' takes more than one")
        values = {**values, name: next(iter(values.get(name, ())), None)}
    return RunOptions(**{name: values[name] for name in fields if name in values})
