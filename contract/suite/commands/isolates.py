"""Whether targets run in processes beside this one."""

from __future__ import annotations

import os
import sys


def by_default() -> bool:
    """Whether a process beside this one can be forked, and prints where this one does.

    It does not where standard output is an object of whoever calls the command from Python.
    """
    try:
        return hasattr(os, "fork") and sys.stdout.fileno() == 1
    except (OSError, ValueError, AttributeError):
        return False
