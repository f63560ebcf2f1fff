"""Locks that a forked child finds free, whatever the threads of its parent were doing."""

from __future__ import annotations

import os
import weakref
from typing import Any, TypeVar

Lock = TypeVar("Lock")
_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()


def free_in_children(lock: Lock) -> Lock:
    """The lock, one of `threading`: free in a child, which has no thread that would release it."""
    _LOCKS.add(lock)
    return lock


def _free() -> None:
    for lock in list(_LOCKS):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)
