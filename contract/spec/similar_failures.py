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
#: The clauses in which wrong reads have to be listed to be known in every clause.
_SEVERAL_CLAUSES = 3
#: The longest file whose offsets are all near its start, in bytes.
_NEAR = 64
#: How many times longer a file may be in which a bug shows at a similar offset.
_SIMILAR = 8
#: Calls before a failure that change nothing but the position, beside reads.
_MOVES = frozenset({"after seek", "after skip"})
#: How reads are wrong, and when.
_WRONG_DATA, _ENDS_EARLY = "reads: wrong data", "reads: end too early"
_AFTER_READS, _AT_PLACE = " after other reads", " at a place"
#: Relations of bytes that differ, at the start of a read or later.
_DIFFERENT = frozenset({WRONG_LATER, "bytes not in the file", "too early", "too late", "zeros"})
_RELATIONS = {
    _WRONG_DATA: _DIFFERENT | {"buffer not filled", "past the end of the file"},
    _ENDS_EARLY: frozenset({"", "end of file", "no bytes"}),
}
_WRONG = "returned wrong bytes"
_LATER = {"moved": _WRONG_DATA, "data": _WRONG_DATA, "end": _ENDS_EARLY}


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
    own buffer, and at the start of a read or later, as the program happens to be. The result itself
    has to be listed for the clause.
    """
    listed = [*valid]
    if _how(failure.signature) not in {_how(entry.signature) for entry in listed}:
        return None
    rest = _without_place(failure.signature)
    alike = (e for e in listed if _without_place(e.signature) == rest)
    return next((e for e in alike if _are_similar(e.program, failure.program)), None)


def in_any_read(valid: Iterable[E], failure: Counterexample) -> E | None:
    """Return the entry of `shown_in_reads` that covers a failure, if one does."""
    state = wrong_read(failure.signature)
    return next((e for e in valid if state and _covers(e, state, failure)), None)


def _covers(entry: Entry, state: str, failure: Counterexample) -> bool:
    if entry.signature != state:
        return False
    return state.endswith(_AFTER_READS) or _are_similar(entry.program, failure.program)


def shown_in_reads(entries: Iterable[E], clause: str) -> Iterator[tuple[E, str]]:
    """Yield entries of other clauses that list wrong reads of this one, and how they list them.

    Wrong bytes that are right without earlier reads come from what those reads left in the stream,
    and wrong bytes of several reads at one place are wrong in the file that they read. Which call
    meets them depends on the seed. Entries that show them in several clauses list them in all;
    wrong bytes at a place only in those that have no entry.
    """
    shown: dict[str, dict[str, E]] = {}
    listed = [*entries]
    for entry in listed:
        state = wrong_read(entry.signature)
        if state:
            shown.setdefault(state, {}).setdefault(entry.clause, entry)
    has_own = any(entry.clause == clause for entry in listed)
    for state, by_clause in shown.items():
        if len(by_clause) >= _SEVERAL_CLAUSES and not (has_own and state.endswith(_AT_PLACE)):
            yield from ((entry, state) for entry in by_clause.values())


def wrong_read(signature: str) -> str:
    """Return how a read is wrong, and whether only after other reads; "" if it is not one."""
    how, *circumstances = signature.split("; ")
    reads = {c for c in circumstances if c.removeprefix("after ") in READ_OPERATIONS}
    others = {*circumstances} - reads
    if others - (_MOVES | ANYWHERE if reads else PLACES):
        return ""
    operation, _, result = how.partition(": ")
    kind, _, relation = result.partition(" ")
    found = ""
    if operation == "later call":
        found = _LATER.get(result, "") if reads else ""
    elif operation in READ_OPERATIONS and kind == Kind.RETURNED.value and (relation or reads):
        relations = {*relation.split(", ")}
        found = next((name for name, known in _RELATIONS.items() if relations <= known), "")
    return found and found + (_AFTER_READS if reads else _AT_PLACE)


def _without_read(signature: str) -> tuple[str, str]:
    """Return a signature without the read that came before the failure, and this read.

    Both are empty if there is none, or more than one.
    """
    parts = signature.split("; ")
    reads = [part for part in parts if part.removeprefix("after ") in READ_OPERATIONS]
    if len(reads) != 1:
        return "", ""
    return "; ".join(part for part in parts if part != reads[0]), reads[0]


def _how(signature: str) -> str:
    return signature.partition("; ")[0]


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
