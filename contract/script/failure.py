"""A failure as scripts show it."""

from __future__ import annotations

from dataclasses import dataclass

from fscontract.contract.program.program import Program


@dataclass(frozen=True)
class Failure:
    """A failure to show: a clause, the program that violates it, and its conditions."""

    clause: str
    program: Program
    features: frozenset[str]
    buffer: int
    #: Versions of the libraries on which it was found.
    versions: dict[str, str]
