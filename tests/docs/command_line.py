"""Generate the reference of commands from their click objects."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from fscontract.contract.cli.main import main

#: The option that every command has; click keeps it with the names of its first context.
_EVERYWHERE = "--help"
_PARAGRAPH = re.compile(r"\n\s*\n")


def command_reference() -> str:
    """Return a section for each command, with its usage, its help and a table of its options."""
    root = click.Context(main, info_name="fscontract")
    return "\n".join(
        line for name in main.list_commands(root) for line in _sections(main, name, root)
    )


def _sections(group: click.Group, name: str, parent: click.Context) -> Iterator[str]:
    found = group.get_command(parent, name)
    assert found is not None
    context = found.make_context(name, [], parent, resilient_parsing=True)
    command = context.command
    yield f"### {context.command_path}"
    yield ""
    yield f"`{context.get_usage().removeprefix('Usage: ').replace(chr(10), ' ')}`"
    yield ""
    for paragraph in _PARAGRAPH.split(inspect.cleandoc(command.help or "")):
        yield _prose(paragraph)
        yield ""
    yield from _options(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _sections(command, each, context)


def _options(context: click.Context) -> Iterator[str]:
    rows = [
        record
        for option in context.command.get_params(context)
        if isinstance(option, click.Option)
        and _EVERYWHERE not in option.opts
        and (record := option.get_help_record(context)) is not None
    ]
    if rows:
        yield "| option | meaning |"
        yield "|---|---|"
        yield from (f"| `{_plain(names)}` | {_prose(meaning)} |" for names, meaning in rows)
        yield ""


def _plain(text: str) -> str:
    """Return the names of an option with its values separated by slashes: a bar ends a cell."""
    return re.sub(r"\[([^\]]*\|[^\]]*)\]", r"\1", text).replace("|", "/")


def _prose(text: str) -> str:
    """Return a paragraph on one line, or as a code block if click does not wrap it."""
    if text.startswith("\b"):
        return "\n".join(f"    {line}" for line in text.splitlines()[1:])
    return " ".join(text.replace("|", "/").replace("<", "&lt;").split())
