"""Exit codes of the commands: of an error, of the entries of a report, of several targets.

Importing this module loads nothing else, so that commands can answer `--help` quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fscontract.contract.runner.baseline import Comparison
    from fscontract.contract.runner.result import Entry

CONFORMS, VIOLATION, USAGE, SET_UP, INTERNAL, NOTHING = range(6)
#: That of a command whose output nobody reads any more, as a shell has it for SIGPIPE.
CLOSED = 141
#: With several targets the first of these that occurs is the exit code.
_WORST = (VIOLATION, SET_UP, NOTHING, CONFORMS)


def of_error(error: BaseException) -> int | None:
    """Return the code for an error of the user or of the target, None for one of the kit."""
    from fscontract.contract.binding import TargetError
    from fscontract.contract.config import ConfigError
    from fscontract.contract.program.arguments import ProgramError
    from fscontract.contract.report.matrix import MatrixError
    from fscontract.contract.spec.clauses import ClauseError
    from fscontract.contract.spec.known_failures import KnownError
    from fscontract.contract.spec.profiles import ProfileError
    from fscontract.contract.targets import UsageError

    if isinstance(error, TargetError):
        return SET_UP
    usage = (
        *(UsageError, ConfigError, ClauseError, ProfileError, KnownError),
        *(ProgramError, MatrixError),
    )
    return USAGE if isinstance(error, usage) else None


def of_entries(entries: Sequence[Entry], comparisons: Sequence[Comparison] = ()) -> int:
    """Return the code of a report; beside a baseline only what is worse there is a violation."""
    codes = [e.exit_code_if_known if comparisons else e.exit_code for e in entries]
    codes += [VIOLATION for comparison in comparisons if comparison.worse]
    return worst(codes)


def worst(codes: Sequence[int]) -> int:
    """Return the exit code of several targets' codes."""
    return next(code for code in _WORST if code in codes)
