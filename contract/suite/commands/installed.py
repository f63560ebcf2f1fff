"""Commands that others bring: the entry points of the group `fscontract.commands`."""

from __future__ import annotations

import ast
import sys
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from textwrap import shorten
from typing import Any

import click

#: Each names a click command or group; the docstring of its module says "`fscontract NAME`: what".
COMMANDS = "fscontract.commands"


class InstalledCommand(click.Command):
    """A command that is imported when it runs. To list it, its module is looked at but not run."""

    def __init__(self, entry: EntryPoint) -> None:
        super().__init__(entry.name)
        self._entry = entry

    def get_short_help_str(self, limit: int = 45) -> str:
        """What the docstring of its module says it does."""
        text = " ".join(_docstring(self._entry.module).split("\n\n")[0].split())
        does = text.removeprefix(f"`fscontract {self.name}`:").strip()
        return shorten(does[:1].upper() + does[1:], limit, placeholder="...")

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """A context of the command itself. TargetError if that needs a library that is missing."""
        from fscontract.contract.targets import load_entry

        command = load_entry(self._entry, f"command {self.name!r}")
        assert isinstance(command, click.Command), command
        return command.make_context(info_name, args, parent, **extra)


class Commands(click.Group):
    """A group with commands of its own, and those that are installed; its own come first."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the alphabet."""
        return sorted({*super().list_commands(ctx), *entry_points(group=COMMANDS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        found = sorted(entry_points(group=COMMANDS, name=cmd_name))
        return InstalledCommand(found[0]) if found else None


def _docstring(module: str) -> str:
    """The docstring of a module, read from its file: neither it nor its packages are imported."""
    names = module.split(".")
    place = getattr(sys.modules.get(names[0]), "__path__", None)
    spec = None
    for depth in range(2 if place else 1, len(names) + 1):
        spec = PathFinder.find_spec(".".join(names[:depth]), place)
        if spec is None:
            return ""
        place = spec.submodule_search_locations
    source = getattr(spec and spec.loader, "get_source", lambda name: None)(module)
    return ast.get_docstring(ast.parse(source)) or "" if source else ""
