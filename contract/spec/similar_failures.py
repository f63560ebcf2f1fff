"""Failures that entries cover although their signatures differ: the same bug in another program.

Which calls precede a failure, and at which offset it shows, depends on the seed as far as the bug
leaves it open. The functions here tell where it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Program
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.signature import ANYWHERE, PLACES, WRONG_LATER


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
#: The kinds of reads after which a failure has to be listed to be known after every read.
_SEVERAL_READS = 3
#: The clauses in which a state that reads leave has to show to be known in every clause.
_SEVERAL_CLAUSES = 3
#: The longest file whose offsets are all near its start, in bytes.
_NEAR = 64
#: How many times longer a file may be in which a bug shows at a similar offset.
_SIMILAR = 8
#: Calls before a failure that change nothing but the position, beside reads.
_MOVES = frozenset({"after seek", "after skip"})
#: Signatures of what a state that earlier reads leave does to reads.
WRONG_DATA = "reads: wrong data after other reads"
ENDS_EARLY = "reads: end too early after other reads"
_RELATIONS = {
    WRONG_DATA: frozenset(
        {WRONG_LATER, "bytes not in the file", "too early", "too late"}
        | {"zeros", "buffer not filled", "past the end of the file"}
    ),
    ENDS_EARLY: frozenset({"end of file", "no bytes"}),
}
#: Relations of bytes that differ, at the start of a read or later.
_DIFFERENT = frozenset({WRONG_LATER, "bytes not in the file", "too early", "too late", "zeros"})
_WRONG = "returned wrong bytes"
_LATER = {"moved": WRONG_DATA, "data": WRONG_DATA, "end": ENDS_EARLY}


def after_any_read(valid: Iterable[E], signature: str) -> E | None:
    """Return an entry for the same failure after other reads, if entries name several of them.

    A failure that follows several kinds of reads follows all of them, and which ones a run meets
    depends on the seed. A wrong position is a failure of the one read.
    """
    rest, read = _without_read(signature)
    if not read or rest.startswith("position:"):
        return None
    alike: dict[str, E] = {}
    for entry in valid:
        other, its_read = _without_read(entry.signature)
        if its_read and other == rest:
            alike.setdefault(its_read, entry)
    return next(iter(alike.values())) if len(alike) >= _SEVERAL_READS else None


def at_similar_offset(valid: Iterable[E], failure: Counterexample) -> E | None:
    """Return an entry for the same failure at a similar offset far from the start.

    A bug behind a block of a length that is not known shows before or behind the end of the kit's
    own buffer, and at the start of a read or later, as the program happens to be.
    """
    rest = _without_place(failure.signature)
    alike = (e for e in valid if _without_place(e.signature) == rest)
    return next((e for e in alike if _are_similar(e.program, failure.program)), None)


def in_any_read(valid: Iterable[E], signature: str) -> E | None:
    """Return the entry of a state that reads leave, if that is what the signature shows."""
    state = state_left(signature)
    return next((e for e in valid if state and e.signature == state), None)


def states_left(entries: Iterable[E]) -> Iterator[tuple[E, str]]:
    """Yield the states that reads leave, with an entry that shows each of them.

    Wrong bytes that are right without earlier reads come from what those reads left in the stream.
    Which call meets it depends on the seed. Entries that show it in several clauses list it in all.
    """
    shown: dict[str, dict[str, E]] = {}
    for entry in entries:
        state = state_left(entry.signature)
        if state:
            shown.setdefault(state, {}).setdefault(entry.clause, entry)
    for state, by_clause in shown.items():
        if len(by_clause) >= _SEVERAL_CLAUSES:
            yield next(iter(by_clause.values())), state


def state_left(signature: str) -> str:
    """Return the kind of wrong result that shows only after other reads; "" if it is not one."""
    how, *circumstances = signature.split("; ")
    reads = {c for c in circumstances if c.removeprefix("after ") in READ_OPERATIONS}
    if not reads or {*circumstances} - reads - _MOVES - ANYWHERE:
        return ""
    operation, _, result = how.partition(": ")
    if operation == "later call":
        return _LATER.get(result, "")
    kind, _, relation = result.partition(" ")
    if operation not in READ_OPERATIONS or kind != Kind.RETURNED.value:
        return ""
    found = {*relation.split(", ")}
    return next((state for state, known in _RELATIONS.items() if found <= known), "")


def _without_read(signature: str) -> tuple[str, str]:
    """Return a signature without the read that came before the failure, and this read.

    Both are empty if there is none, or more than one.
    """
    parts = signature.split("; ")
    reads = [part for part in parts if part.removeprefix("after ") in READ_OPERATIONS]
    if len(reads) != 1:
        return "", ""
    return "; ".join(part for part in parts if part != reads[0]), reads[0]


def _without_place(signature: str) -> tuple[str, ...]:
    """Return a signature without the place, from which it depends where in a read bytes differ."""
    how, *circumstances = signature.split("; ")
    operation, _, result = how.partition(": returned ")
    if operation in READ_OPERATIONS and result in _DIFFERENT:
        how = f"{operation}: {_WRONG}"
    return how, *(c for c in circumstances if c not in PLACES)


def _are_similar(one: Program | None, other: Program | None) -> bool:
    """Return whether two programs need files of similar length, which are not short."""
    if one is None or other is None:
        return False
    shorter, longer = sorted((one.length, other.length))
    return shorter > _NEAR and longer <= shorter * _SIMILAR
