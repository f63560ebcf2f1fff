"""The command `fscontract`. What a subcommand needs is imported when it runs."""

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
from fscontract.contract.suite.commands.known import known
from fscontract.contract.suite.commands.listing import features, list_clauses
from fscontract.contract.suite.commands.matrix import matrix
from fscontract.contract.suite.commands.profile import profile
from fscontract.contract.suite.commands.replay import replay


class _Commands(click.Group):
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
            common.say_error(" ".join(error.format_message().split()))
            return common.USAGE
        except Exception as error:
            known_code = common.exit_code_of(error)
            if known_code is None:
                raise
            common.say_error(str(error))
            return known_code
        return code if isinstance(code, int) else common.CONFORMS


@click.group(
    cls=_Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fscontract", message="%(prog)s %(version)s")
def main() -> None:
    """Check filesystems against the contract of Hadoop's input streams."""


for _command in (check, list_clauses, explain, replay, known, matrix, features, profile, clean):
    main.add_command(_command)
