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
from fscontract.contract.suite.commands import common
from fscontract.contract.suite.commands.check import check
from fscontract.contract.suite.commands.clean import clean
from fscontract.contract.suite.commands.explain import explain
from fscontract.contract.suite.commands.installed import Commands
from fscontract.contract.suite.commands.known import known
from fscontract.contract.suite.commands.listing import features, list_clauses
from fscontract.contract.suite.commands.matrix import matrix
from fscontract.contract.suite.commands.profile import profile
from fscontract.contract.suite.commands.replay import replay

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
        code = self._main(*args, **kwargs)
        common.leave_anyway(code, before)
        sys.exit(code)

    def _main(self, *args: Any, **kwargs: Any) -> int:
        try:
            code = super().main(*args, **kwargs)
        except click.Abort:
            common.say_error("interrupted")
            return common.INTERRUPTED
        except click.ClickException as error:
            _tell(error)
            return common.USAGE
        except Exception as error:
            known_code = common.exit_code_of(error)
            if known_code is None:
                raise
            common.say_error(str(error))
            return known_code
        return code if isinstance(code, int) else common.CONFORMS


def _tell(error: click.ClickException) -> None:
    """One line; but for a group of commands without any of them, what there is."""
    said = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":  # of click since 8.2
        click.echo(said, err=True)
        return
    if isinstance(error, click.MissingParameter) and error.ctx is not None:
        said = f"{said.rstrip('.')}; see '{error.ctx.command_path} --help'"
    common.say_error(" ".join(said.split()))


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fscontract", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Check filesystems against the contract of Hadoop's input streams."""
    if ctx.invoked_subcommand is None:  # no success: a script that lost its arguments is to fail
        click.echo(_START)
        ctx.exit(common.USAGE)


for _command in (check, list_clauses, explain, replay, known, matrix, features, profile, clean):
    main.add_command(_command)
