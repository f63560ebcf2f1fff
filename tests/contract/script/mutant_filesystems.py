"""Make the filesystem of a mutant by its name, for scripts."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.mutants.registry import mutant_named
from fscontract.implementations.memory import MemoryFileSystem


def make(name: str) -> Any:
    """Return the filesystem of the mutant, or a right one if the name is empty."""
    if not name:
        return MemoryFileSystem()

    return mutant_named(name).binding().filesystem
