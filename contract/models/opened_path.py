"""Judge a plain `open` of an unusual path, and the first read of its stream.

FileSystem.open() raises FileNotFoundException or IOException if the path is not a file, and checks
that itself. Only a missing permission may be reported by the first read, or everything if the
profile says that open() does not check the path.
"""

from __future__ import annotations

from typing import NamedTuple

from fscontract.contract.models.stream_state import Failure
from fscontract.contract.models.transition_table import HADOOP_TESTS, STRICT
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome, words

#: The clause of each kind of path: the exception that open() raises.
CLAUSE_OF = {
    "missing": "open.missing",
    "below-file": "open.below-file",
    "empty-path": "open.empty-path",
    "directory": "open.directory",
    "empty-directory": "open.directory",
    "unreadable": "open.unreadable",
    "named": "open.name",
}
#: The clause of an open that leaves the check to a read.
PRESENCE = "open.presence"
#: The clause of a stream that reads something where there is no file.
NOTHING = "open.nothing-read"
#: The clause of the class of the exception for a missing path.
CLASS = "open.missing-class"
#: Every clause that this module can name.
CLAUSES = frozenset({*CLAUSE_OF.values(), PRESENCE, NOTHING, CLASS})
#: The feature of filesystems whose open() checks the path. Other callables may leave it to a read.
CHECKS_AT_OPEN = "checks-path-at-open"
#: Paths at which there is neither a file nor a directory.
_NOTHING_THERE = frozenset({"missing", "below-file", "empty-path"})
_NOT_FOUND = frozenset({Kind.NOT_FOUND})
_IO = IO_KINDS - {Kind.EOF}


class PathVerdict(NamedTuple):
    """The verdict on an open or a read: a failure, or clauses that it exercised or missed."""

    failure: Failure | None = None
    exercised: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


def judge_open(kind: str, features: frozenset[str], outcome: Outcome) -> PathVerdict:
    """Judge `open` of a path that is not a readable file; if it returns, a read is judged."""
    if not outcome.raised:
        return PathVerdict()
    clause, allowed = CLAUSE_OF[kind], allowed_kinds(kind, features)
    if outcome.kind not in allowed:
        return _failed(clause, "raised", allowed)
    exercised = [clause, NOTHING] if kind in _NOTHING_THERE else [clause]
    if kind != "unreadable" and CHECKS_AT_OPEN in features:
        exercised.append(PRESENCE)
    if kind != "missing":
        return PathVerdict(exercised=tuple(exercised))
    if outcome.kind is not Kind.NOT_FOUND:
        return PathVerdict(None, tuple(exercised), (CLASS,))
    return PathVerdict(None, (*exercised, CLASS))


def judge_read(kind: str, features: frozenset[str], outcome: Outcome) -> PathVerdict:
    """Judge the first read of a stream that `open` returned for a path without a readable file."""
    clause, allowed = CLAUSE_OF[kind], allowed_kinds(kind, features)
    if not outcome.raised:
        return _failed(NOTHING if kind in _NOTHING_THERE else clause, "accepted", allowed)
    if outcome.kind not in allowed:
        return _failed(clause, "raised", allowed)
    if kind == "unreadable" or CHECKS_AT_OPEN not in features:
        return PathVerdict(exercised=(clause,))
    return PathVerdict(Failure(PRESENCE, "", "late", (f"open raises {words(allowed)}",)))


def allowed_kinds(kind: str, features: frozenset[str]) -> frozenset[Kind]:
    """Return the kinds of exceptions of an open of a kind of path that is not a readable file."""
    if kind == "empty-path":  # the form of a path may be refused as such
        return _IO | {Kind.ILLEGAL_ARGUMENT}
    tested = HADOOP_TESTS in features and kind in ("directory", "empty-directory")
    strict = STRICT in features and (kind == "missing" or tested)
    return _NOT_FOUND if strict else _IO


def _failed(clause: str, aspect: str, allowed: frozenset[Kind]) -> PathVerdict:
    return PathVerdict(Failure(clause, "", aspect, (f"open raises {words(allowed)}",)))
