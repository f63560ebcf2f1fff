"""Functions shared by all commands, here and in `pipeline`: messages, and options of targets.

It imports only click and the standard library before a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import contextlib
import os
import sys

import click

#: The most characters of a line on stderr; the middle of a longer one is omitted.
_MAX_LINE = 2000


def say(message: str, err: bool = False) -> None:
    """Print `message`, escaping characters that could control a terminal.

    The message may contain foreign text. With `err`, it is dropped if stderr is closed.
    """
    from fscontract.contract.text import printable

    closed = (OSError, ValueError, AttributeError) if err else ()
    with contextlib.suppress(*closed):
        click.echo(printable(message), err=err)


def say_error(message: str) -> None:
    """Print one line on stderr for each line of `message`."""
    for line in message.split("\n"):
        text = line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 200]} ... {line[-200:]}"
        say(f"fscontract: error: {text}", err=True)


def in_one_place() -> bool:
    """Return whether stdout and stderr are one file, pipe or terminal, so one message is enough."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):  # not files, or closed
        return False


def pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Convert KEY=VALUE texts to a dictionary, as a click callback; errors omit the values."""
    options: dict[str, str] = {}
    for number, text in enumerate(value, 1):
        key, equals, rest = text.partition("=")
        if not equals or not key:  # the text may be a secret, so the message omits it
            raise click.BadParameter(f"number {number} is invalid; expected key=value")
        if key in options:
            raise click.BadParameter(f"duplicate key {key!r}")
        options[key] = rest
    return options


TARGET_OPTION = click.option(
    "-o",
    "--option",
    "options",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="An option for the target, such as a storage option; may be repeated.",
)
