"""The command `fscontract`. What a subcommand needs is imported when it runs.

Subcommands of other packages, and of parts that this one may not import, are entry points of the
group `fscontract.commands`.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, NoReturn

import click

from fscontract import __version__
from fscontract.contract.suite.commands import common, ends
from fscontract.contract.suite.commands.check import check
from fscontract.contract.suite.commands.clean import clean
from fscontract.contract.suite.commands.explain import explain
from fscontract.contract.suite.commands.installed import Commands
from fscontract.contract.suite.commands.known import known
from fscontract.contract.suite.commands.listing import features, list_clauses
from fscontract.contract.suite.commands.matrix import matrix
from fscontract.contract.suite.commands.profile import profile
from fscontract.contract.suite.commands.replay import replay
from fscontract.contract.suite.commands.signals import stopped_by_signals

_START = f"""\
fscontract {__version__} checks what holds of filesystems by Hadoop's contracts.

  fscontract check TARGET     what holds of memory, s3://bucket, file.py:make
  fscontract explain CLAUSE   what a clause says, why it matters, and an example
  fscontract replay FILE      run a failure again, from the file check wrote

fscontract --help lists all commands, fscontract check --help what it can do."""


class _Commands(Commands):
    """A group in which every mistake of the user is one line on stderr, without a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run and exit; the codes are those in the help of `check`."""
        kwargs["standalone_mode"] = False
        before = threading.enumerate()
        with stopped_by_signals():
            code = ends.code_of(lambda: super(_Commands, self).main(*args, **kwargs))
            common.leave_anyway(code, before)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, whose exceptions click does not see before they are sorted."""
        return ends.invoked(super().invoke, ctx)


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
    ends.show_tracebacks(traceback)
    if ctx.invoked_subcommand is None:  # no success: a script that lost its arguments is to fail
        click.echo(_START)
        ctx.exit(common.USAGE)


for _command in (check, list_clauses, explain, replay, known, matrix, features, profile, clean):
    main.add_command(_command)
