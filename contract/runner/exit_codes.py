"""Exit codes of the commands.

Importing this module loads nothing else, so that commands can answer `--help` quickly.
"""

from __future__ import annotations

from collections.abc import Sequence

CONFORMS, VIOLATION, USAGE, SET_UP, INTERNAL, NOTHING = range(6)
#: Exit code of a command whose output is closed, as a shell has it for SIGPIPE.
CLOSED = 141
#: With several targets the first of these that occurs is the exit code.
_WORST = (VIOLATION, SET_UP, NOTHING, CONFORMS)


def worst(codes: Sequence[int]) -> int:
    """Return the exit code of several targets' codes."""
    return next(code for code in _WORST if code in codes)
