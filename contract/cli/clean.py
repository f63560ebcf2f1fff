"""`fscontract clean`: remove directories left by killed runs."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fscontract.contract.cli import watched
from fscontract.contract.command_line import TARGET_OPTION, say, say_error
from fscontract.contract.runner.exit_codes import CONFORMS, SET_UP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fscontract.contract.binding import Binding

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_AGE = re.compile(r"(\d{1,6})([smhd])")


def _age(ctx: click.Context, param: click.Parameter, value: str) -> timedelta:
    match = _AGE.fullmatch(value)
    if match is None:
        raise click.BadParameter(f"expected a number with s, m, h or d, such as 90m; got {value!r}")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


@click.command(cls=watched.WatchedCommand, short_help="Remove directories of killed runs.")
@click.argument("target")
@TARGET_OPTION
@click.option(
    "--older-than",
    "age",
    metavar="AGE",
    default="1h",
    callback=_age,
    show_default=True,
    help="The minimum age: a number with s, m, h or d.",
)
@click.option("--dry-run", is_flag=True, help="Print the directories without removing them.")
@click.pass_context
def clean(
    ctx: click.Context, /, *, target: str, options: dict[str, str], age: timedelta, dry_run: bool
) -> None:
    """Remove the directories fscontract-* that killed runs have left in TARGET.

    Runs remove their own directories unless they are killed. The names contain the time of
    creation; other directories are not touched.

    Exit codes: 0 done, 2 usage, 3 the target can't be used, or something could not be removed.
    """
    from fscontract.contract.binding import TargetError
    from fscontract.contract.runner.run_options import set_up_limit
    from fscontract.contract.runner.sandbox import SandboxedBinding
    from fscontract.contract.targets import resolve_target

    with watched.within(set_up_limit(0)):
        target_binding = resolve_target(target, options)
    binding = SandboxedBinding(target_binding, _PATIENCE)
    code = CONFORMS
    try:
        for prefix in _old(binding, age):
            try:
                if not dry_run:
                    binding.discard(prefix)
                say(f"{'would remove' if dry_run else 'removed'}: {prefix}")
            except TargetError as error:
                say_error(str(error))
                code = SET_UP
    finally:
        binding.dispose()
    ctx.exit(code)


#: Time limit in seconds for removing one of them, divided by six (see SandboxedBinding).
_PATIENCE = 100.0


def _old(binding: Binding, age: timedelta) -> Iterator[str]:
    """Yield the prefixes that are old enough; print the reason for each of the others."""
    from fscontract.contract.targets import made_at

    now = datetime.now(timezone.utc)
    for prefix in binding.leftovers():
        created = made_at(Path(prefix).name)
        if created is None:
            say(f"skipped: {prefix}: no creation time in its name")
        elif now - created < age:
            say(f"skipped: {prefix}: created at {created:%Y-%m-%d %H:%M:%S} UTC")
        else:
            yield prefix
