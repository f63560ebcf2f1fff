"""The command `fscontract`, which imports a subcommand's code when it runs.

Subcommands of other packages, and of parts that this package must not import, are entry points of
the group `fscontract.commands`.
"""

from __future__ import annotations

import ast
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from fscontract.contract import __version__
from fscontract.contract.cli import command_exit
from fscontract.contract.cli.check import check
from fscontract.contract.cli.clean import clean
from fscontract.contract.cli.command_exit import stopped_by_signals
from fscontract.contract.cli.explain import explain, features, list_clauses
from fscontract.contract.cli.known import known
from fscontract.contract.cli.matrix import matrix
from fscontract.contract.cli.new_clause import new_clause
from fscontract.contract.cli.profile import profile
from fscontract.contract.cli.replay import replay
from fscontract.contract.command_line import say
from fscontract.contract.runner.exit_codes import USAGE
from fscontract.contract.spec import RenamedWarning

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

#: Each is a click command or group; the docstring of its module is "`fscontract NAME`: summary".
COMMANDS = "fscontract.commands"


class InstalledCommand(click.Command):
    """A command that is imported when it runs; listing it reads only its module's source."""

    def __init__(self, entry: EntryPoint) -> None:
        super().__init__(entry.name)
        self._entry = entry

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the summary in the docstring of its module."""
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
        """Return a context of the command. Raise TargetError if a library for it is missing."""
        from fscontract.contract.targets import load_entry

        command = load_entry(self._entry, f"command {self.name!r}")
        assert isinstance(command, click.Command), command
        return command.make_context(info_name, args, parent, **extra)


class Commands(click.Group):
    """A group with built-in and installed commands; the built-in ones come first."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in alphabetical order."""
        return sorted({*super().list_commands(ctx), *_installed().names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        entries = sorted(_installed().select(name=cmd_name))
        return InstalledCommand(entries[0]) if entries else None


def _installed() -> EntryPoints:
    from importlib.metadata import entry_points  # reading entry points is the slowest part

    return entry_points(group=COMMANDS)


def _docstring(module: str) -> str:
    """Return the docstring of a module from its file, without importing it or its packages."""
    names = module.split(".")
    path = getattr(sys.modules.get(names[0]), "__path__", None)
    spec = None
    for depth in range(2 if path else 1, len(names) + 1):
        spec = PathFinder.find_spec(".".join(names[:depth]), path)
        if spec is None:
            return ""
        path = spec.submodule_search_locations
    source = getattr(spec and spec.loader, "get_source", lambda name: None)(module)
    return ast.get_docstring(ast.parse(source)) or "" if source else ""


@contextmanager
def renames_printed() -> Iterator[None]:
    """Print each RenamedWarning once, as a line on stderr."""
    printed: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", RenamedWarning)
        show = warnings.showwarning

        def print_rename(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            text = str(message)
            if not issubclass(category, RenamedWarning):
                show(message, category, filename, lineno, file, line)
            elif text not in printed:
                printed.add(text)
                say(f"fscontract: {text}", err=True)

        warnings.showwarning = print_rename
        yield


_START = f"""\
fscontract {__version__} checks filesystems against Hadoop's contracts.

  fscontract check TARGET     check memory, s3://bucket, file.py:make
  fscontract explain CLAUSE   show a clause, the reason for it, and an example
  fscontract replay FILE      run a failure again, from a file of check

fscontract --help lists all commands, fscontract check --help its options."""


class _Commands(Commands):
    """A group that prints every user error as one line on stderr, without a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run and exit; the codes are those in the help of `check`."""
        kwargs["standalone_mode"] = False
        before = threading.enumerate()
        with stopped_by_signals():
            code = command_exit.code_of(lambda: super(_Commands, self).main(*args, **kwargs))
            command_exit.leave_anyway(code, before)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command; classify its exceptions before click sees them."""
        with renames_printed():
            return command_exit.invoked(super().invoke, ctx)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fscontract", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Show the traceback of an internal error.")
@click.pass_context
def main(ctx: click.Context, traceback: bool) -> None:
    """Check filesystems against the contract of Hadoop's input streams."""
    command_exit.show_tracebacks(traceback)
    if ctx.invoked_subcommand is None:  # a failure, so that a script without its arguments fails
        click.echo(_START)
        ctx.exit(USAGE)


for _command in (
    *(check, list_clauses, explain, replay, known),
    *(matrix, features, profile, clean, new_clause),
):
    main.add_command(_command)
