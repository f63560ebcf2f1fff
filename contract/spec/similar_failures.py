"""Wrong reads that entries of known failures cover although their signatures differ.

The seed chooses the programs of a run, and those decide at which of similar offsets a bug shows,
after which other reads, and in which method that reads. `similar_entry` leaves these out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Program
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.signature import ANYWHERE, PLACES, WRONG_BYTE, WRONG_LATER


class Entry(Protocol):
    """An entry of known failures: a clause, the way it fails, and a program that shows it."""

    @property
    def clause(self) -> str:
        """The id of the clause."""

    @property
    def signature(self) -> str:
        """The signature of the failure."""

    @property
    def program(self) -> Program | None:
        """A program that shows the failure, if the entry has one."""


E = TypeVar("E", bound=Entry)
#: The longest file whose offsets are all near its start, in bytes.
_NEAR = 64
#: How many times longer a file may be in which a bug shows at a similar offset.
_SIMILAR = 2
#: Calls before a failure that change nothing but the position, beside reads.
_MOVES = frozenset({"after seek", "after skip"})
#: Relations of bytes that are wrong, or missing at the end of a file.
_WRONG = frozenset({"too early", "too late", "bytes not in the file", "zeros", WRONG_LATER})
_WRONG |= {"buffer not filled", "past the end of the file", "end of file", "no bytes", WRONG_BYTE}
#: How a later call shows that earlier reads left wrong data, or a wrong end.
_LATER = frozenset({"moved", "data", "end"})


class WrongRead(NamedTuple):
    """A wrong read without what depends on the programs of a run.

    `result` is what it returns, or how a later call shows it. `after_reads` says whether it is
    right without other reads before it. `state` has the other circumstances, but not the place in
    the file.
    """

    result: str
    after_reads: bool
    state: frozenset[str]


def similar_entry(entries: Iterable[E], failure: Counterexample) -> E | None:
    """Return an entry of any clause that lists the same wrong read, None if there is none.

    The same read has an equal `WrongRead`, and its file is at most twice as long or short. All
    offsets of a short file are near its start, where each method shows a bug.
    """
    wrong = wrong_read(failure.signature)
    if wrong is None:
        return None
    alike = (entry for entry in entries if wrong_read(entry.signature) == wrong)
    return next((entry for entry in alike if _are_similar(entry.program, failure)), None)


def wrong_read(signature: str) -> WrongRead | None:
    """Return how a read is wrong; None if this is not the signature of a wrong read."""
    how, *circumstances = signature.split("; ")
    operation, _, result = how.partition(": ")
    kind, _, relation = result.partition(" ")
    reads = {c for c in circumstances if c.removeprefix("after ") in READ_OPERATIONS}
    if operation == "later call":
        is_wrong = bool(reads) and result in _LATER
    else:
        returned = operation in READ_OPERATIONS and kind == Kind.RETURNED.value
        is_wrong = returned and _WRONG.issuperset(relation.split(", "))
    if not is_wrong:
        return None
    others = _MOVES | ANYWHERE if reads else PLACES
    return WrongRead(result, bool(reads), frozenset({*circumstances} - reads - others))


def _are_similar(listed: Program | None, failure: Counterexample) -> bool:
    """Return whether programs need files of similar length, which are not short.

    The file of a failure that was not shrunk may be longer than it needs.
    """
    if listed is None or failure.program is None:
        return False
    shorter, longer = sorted((listed.length, failure.program.length))
    needless = failure.unshrunk and shorter == listed.length
    return shorter > _NEAR and (needless or longer <= shorter * _SIMILAR)
