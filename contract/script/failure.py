"""A failure as scripts show it."""

from __future__ import annotations

from dataclasses import dataclass

from fscontract.contract.program.program import Program, Step


@dataclass(frozen=True)
class Failure:
    """A failure to show: a clause, the program that violates it, and its conditions.

    If several threads share a stream, they make the calls of `threads`, and the program has none.
    """

    clause: str
    program: Program
    features: frozenset[str]
    buffer: int
    #: Versions of the libraries on which it was found.
    versions: dict[str, str]
    #: The profile's additional keys of openFile(), and those that it knows but does not support.
    own_keys: frozenset[str] = frozenset()
    unsupported_keys: frozenset[str] = frozenset()
    threads: tuple[tuple[Step, ...], ...] = ()
    #: The thread that one switch pauses; None if threads ran freely.
    first_thread: int | None = None
