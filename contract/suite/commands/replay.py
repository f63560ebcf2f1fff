"""`fscontract replay`: run the program of a failure again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from fscontract.contract.suite.commands import common, watched


@click.command(cls=watched.WatchedCommand, short_help="Run a failure again.")
@click.argument("file_", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("target", metavar="[TARGET]", required=False)
@click.option("--profile", metavar="P", help="Another profile than the one of the failed run.")
@common.TARGET_OPTION
@common.FILE_OPTION
@common.CONTENT_OPTION
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    file_: Path,
    target: str | None,
    profile: str | None,
    options: dict[str, str],
    file: str | None,
    content: Path | None,
) -> None:
    """Run a failure from the FILE that `check` wrote, on TARGET or the one it failed on.

    FILE knows the target, --file and --content, but no options and no secrets: give them again.

    Exit codes: 0 it passes now, 1 it still fails, fails otherwise or ends the process, 2 usage,
    3 the target can't be used, 4 internal error of fscontract.
    """
    from fscontract.contract.profile import load_profile
    from fscontract.contract.program import Program
    from fscontract.contract.suite import replay as replaying
    from fscontract.contract.suite.report.text import printable
    from fscontract.contract.targets import resolve_target

    data = _load(file_)
    chosen = target or _text(data, "target", file_)
    if not chosen:
        raise click.UsageError(f"{file_} names no target: give one, as in: replay {file_} memory")
    if target is None:
        _check_options(data, options, file_)
    if target is None and file is None and content is None:
        held = _text(data, "file", file_), _text(data, "content", file_)
        file, content = held[0], None if held[1] is None else Path(held[1])
    home = os.getpid()
    with watched.within(common.set_up_limit(0)):
        binding = resolve_target(chosen, options, file, content)
    common.leave_fork(home)
    named = profile or data.get("profile") or binding.default_profile
    if not isinstance(named, str):
        raise click.UsageError(f"{file_}: profile must be a name, not {named!r}")
    ends = watched.ending(f"{data.get('clause')}: ends the process", common.VIOLATION)
    result = replaying.replay(binding, data, load_profile(named), ends)
    click.echo(f"{result.clause}: {result.outcome}")
    if "program" in data:
        click.echo(f"  program    {printable(str(Program.from_json(data['program'])))}")
    for number, call in enumerate(result.trace, 1):
        label = f"{number:<10} " if "threads" not in data else ""  # those have numbers
        click.echo(f"  {label}{printable(call)}")
    click.echo(f"  expected   {printable(' or '.join(result.expected))}")
    click.echo(f"  actual     {printable(result.actual)}")
    ctx.exit(common.CONFORMS if result.outcome == "passes now" else common.VIOLATION)


def _check_options(data: dict[str, Any], options: dict[str, str], path: Path) -> None:
    names = data.get("options", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise click.UsageError(f"{path}: options must be a list of names, not {names!r}")
    missing = [f"-o {name}=..." for name in names if name not in options]
    if missing:
        raise click.UsageError(f"{path} keeps no values of options: give {' '.join(missing)} again")


def _text(data: dict[str, Any], key: str, path: Path) -> str | None:
    value = data.get(key)
    if value is None or isinstance(value, str):
        return value
    raise click.UsageError(f"{path}: {key} must be a text, not {value!r}")


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"can't read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise click.UsageError(f"{path}: not JSON: {error}") from error
    if not isinstance(data, dict):
        raise click.UsageError(f"{path}: not a replay file: expected a JSON object")
    return data
