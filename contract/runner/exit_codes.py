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
    codes = [_of_entry(entry, lenient=bool(comparisons)) for entry in entries]
    codes += [VIOLATION for comparison in comparisons if comparison.worse]
    return worst(codes)


def worst(codes: Sequence[int]) -> int:
    """Return the exit code of several targets' codes."""
    return next(code for code in _WORST if code in codes)


def _of_entry(entry: Entry, lenient: bool) -> int:
    """Return the code of one target; `lenient` leaves its failures to the comparison."""
    from fscontract.contract.runner.result import FAILING, NotSetUp, Verdict

    if isinstance(entry, NotSetUp):
        return SET_UP
    if entry.conforms:
        return CONFORMS
    outcomes = {result.outcome for result in entry.clauses}
    lost = entry.incomplete or Verdict.ERROR in outcomes
    if outcomes & FAILING:
        if not lenient:
            return VIOLATION
        return SET_UP if lost else CONFORMS
    return SET_UP if lost else NOTHING
