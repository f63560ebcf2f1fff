"""Classify errors of the user, of the target and of the kit, and describe the last."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass

from fscontract.contract.program.outcome import clip, text_of
from fscontract.contract.runner.exit_codes import SET_UP, USAGE

#: Advice for a bug of the kit.
REPORT = (
    "this is a bug in fscontract: report it with the output of "
    "'fscontract --traceback COMMAND ...' (see CONTRIBUTING.md)"
)
_PACKAGE = f"{os.sep}fscontract{os.sep}"


@dataclass(frozen=True)
class Fault:
    """An exception that is a bug of the kit."""

    #: Its class, its message, and the source line of the kit.
    line: str
    trace: str


class InternalError(Exception):
    """A bug of the kit (exit code 4), here or in a process of a run."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.line)
        self.fault = fault


def exit_code_of(error: BaseException) -> int | None:
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


def fault_of(error: BaseException) -> Fault:
    """Describe an uncaught exception."""
    if isinstance(error, InternalError):
        return error.fault
    text = clip(" ".join(text_of(error).split()), 500)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Fault(f"{said} ({_source_line(error)})", _trace(error))


def _source_line(error: BaseException) -> str:
    """Return the innermost line that is in the kit, otherwise the innermost line."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "unknown place"
    chosen = [f for f in frames if _PACKAGE in f.filename] or frames
    name = chosen[-1].filename
    return f"{name.rpartition(_PACKAGE)[2]}:{chosen[-1].lineno}"


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error)).rstrip("\n")
    except BaseException:  # the exception may not be printable
        return f"{type(error).__name__}, whose traceback can't be shown"
