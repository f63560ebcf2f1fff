"""The clauses of the specification: what must hold, as data read from `specs/*.yaml`."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.program import Program, Step
from fscontract.contract.spec import RenamedWarning
from fscontract.contract.untrusted import parse_yaml

#: The document every other one builds on comes first, wherever its name sorts.
_FIRST = "fsdatainputstream"
_GLOB = frozenset("*?[")
#: What a pattern starts with that may be the name of a group.
_GROUP = re.compile(r"[a-z0-9]+(?=[.*?\[]|\Z)")
#: What a document is about unless it says otherwise: streams, and how they are opened.
STREAM = "stream"


class ClauseError(ValueError):
    """A selection that matches no clause; the message is one line and names near misses."""


class Level(str, Enum):
    """How strongly a clause binds. UNSPECIFIED says that the text leaves the matter open."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    UNSPECIFIED = "UNSPECIFIED"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Example:
    """A program, and the outcomes that its last step may have, as in `specs/schema.json`."""

    program: Program
    expect: tuple[dict[str, Any], ...] = field(hash=False)


@dataclass(frozen=True)
class Cost:
    """A program on a file of `length` bytes opened by a builder, and what it may cost.

    `before` are steps after which `meter` starts at 0; if it is None, it starts before the file is
    opened. The budgets are by read policy; that of "default" is for no policy, and for each policy
    that is not listed.
    """

    length: int
    calls: tuple[BuilderCall, ...]
    before: tuple[Step, ...] | None
    steps: tuple[Step, ...]
    #: A key of `iostatistics.METERS`.
    meter: str
    budget: Mapping[str, int] = field(hash=False)
    #: Whether the meter has to read what the budget says, instead of that at most.
    exact: bool = False


@dataclass(frozen=True)
class Clause:
    """One normative statement. `needs` are feature names, with "!" where they must be absent."""

    id: str
    level: Level
    #: The heading of the source document, or where the statement stands if not in it.
    section: str
    statement: str
    #: Name of the document, the stem of its file.
    document: str
    #: The reading taken where the text contradicts itself.
    reading: str = ""
    needs: tuple[str, ...] = ()
    #: Names of the checks that judge it; empty exactly if `untestable` says why there are none.
    checks: tuple[str, ...] = ()
    untestable: str = ""
    #: What goes wrong for users where it is broken.
    because: str = ""
    refs: tuple[str, ...] = ()
    examples: tuple[Example, ...] = field(default=(), hash=False)
    #: Where a statement comes from that the document itself lacks.
    origin: str = ""
    #: The program whose cost is bounded, if it is judged by a check `cost.<meter>`.
    cost: Cost | None = None
    #: What the document is about, and so what kind of target it judges.
    api: str = STREAM

    @property
    def testable(self) -> bool:
        """Whether any check judges it."""
        return bool(self.checks)

    @property
    def citation(self) -> str:
        """The title of the document, and the section that has the statement."""
        document = documents().get(self.document)
        return f"{document.title if document else self.document} § {self.section}"


@dataclass(frozen=True)
class Retired:
    """An id that no clause has any more, since a version, for a reason; it is never used again.

    `instead` are the clauses that say now what it said, if it was not withdrawn.
    """

    id: str
    since: str
    reason: str
    instead: tuple[str, ...] = ()

    def __str__(self) -> str:
        now = f"{' and '.join(self.instead)} since" if self.instead else "withdrawn in"
        verb = "is" if self.instead else "was"
        return f"{self.id} {verb} {now} {self.since}: {self.reason}"


@dataclass(frozen=True)
class Renamed:
    """Names that changed in a version, old to new; the old ones still work."""

    since: str
    reason: str
    groups: Mapping[str, str] = field(hash=False)
    documents: Mapping[str, str] = field(hash=False)
    targets: Mapping[str, str] = field(hash=False)
    profiles: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True)
class Document:
    """A source document: the stem of its file, its title, what it is written from and about."""

    name: str
    title: str
    source: str
    api: str = STREAM


#: The document that is judged only in runs in which requests fail.
FAULTS = "faults"


def near_misses(name: str, known: Iterable[str]) -> str:
    """`"; did you mean A or B?"`, or an empty string if nothing known resembles `name`."""
    matches = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


@lru_cache(maxsize=1)
def clauses() -> dict[str, Clause]:
    """Every clause of every document by its id, in file order."""
    return {
        clause.id: clause
        for data in _data()
        for clause in (_clause(entry, _document(data)) for entry in data["clauses"])
    }


@lru_cache(maxsize=1)
def documents() -> dict[str, Document]:
    """Every document that has clauses, by name, in the order of `clauses()`."""
    return {d["document"]: _document(d) for d in _data()}


@lru_cache(maxsize=1)
def renamed() -> tuple[Renamed, ...]:
    """Return the renames of each version, from `specs/renames.yaml`."""
    text = files("fscontract.specs").joinpath("renames.yaml").read_text(encoding="utf-8")
    return tuple(Renamed(**entry) for entry in parse_yaml(text)["renamed"])


@lru_cache(maxsize=1)
def retired() -> dict[str, Retired]:
    """Return every id that was a clause's and is not any more, by id."""
    entries = (entry for data in _data() for entry in data.get("retired", ()))
    declared = (Retired(**{**e, "instead": tuple(e.get("instead", ()))}) for e in entries)
    return {entry.id: entry for entry in (*declared, *_of_renamed_groups())}


def _of_renamed_groups() -> Iterator[Retired]:
    for version in renamed():
        for old, new in version.groups.items():
            for name in clauses():
                if name.startswith(f"{new}."):
                    old_id = old + name.removeprefix(new)
                    yield Retired(old_id, version.since, version.reason, (name,))


def present(name: str) -> str:
    """Return the id that a clause of this id has now, or `name` if it has none or several."""
    old = retired().get(name)
    return old.instead[0] if old is not None and len(old.instead) == 1 else name


def read_id(name: str) -> str:
    """Return `present(name)`; warn with RenamedWarning if that is another id."""
    current = present(name)
    if current != name:
        warnings.warn(str(retired()[name]), RenamedWarning, stacklevel=2)
    return current


def read_name(kind: str, name: str) -> str:
    """Return `present_name(kind, name)`; warn with RenamedWarning if that is another name."""
    current = present_name(kind, name)
    if current != name:
        warnings.warn(f"{name} is {current} now", RenamedWarning, stacklevel=2)
    return current


def present_name(kind: str, name: str) -> str:
    """Return the name that a target or profile has now; `kind` is "targets" or "profiles"."""
    names = (getattr(version, kind).get(name) for version in renamed())
    return next((new for new in names if new), name)


def notice(pattern: str) -> str:
    """Return a line that says what an old name stands for now; "" for a present name."""
    if pattern in retired():
        return str(retired()[pattern])
    version, current = _current(pattern)
    if version is None:
        return ""
    return f"{pattern} is {current} since {version.since}: {version.reason}"


def present_patterns(pattern: str) -> tuple[str, ...]:
    """Return the patterns that an old name stands for now, or the pattern itself."""
    old = retired().get(pattern)
    return (_current(pattern)[1],) if old is None else old.instead


def _current(pattern: str) -> tuple[Renamed | None, str]:
    """Return the version that renamed the document or group of a pattern, and the pattern of now.

    A pattern that matches a clause keeps its meaning.
    """
    start = _GROUP.match(pattern)
    group = start[0] if start else ""
    for version in renamed():
        document, new = version.documents.get(pattern), version.groups.get(group)
        if (document or new) and not _matching(pattern):
            return version, document or f"{new}{pattern.removeprefix(group)}"
    return None, pattern


def select(patterns: Sequence[str]) -> list[Clause]:
    """The clauses that match any pattern, in file order; all of them if there is no pattern.

    A pattern is an id, a prefix that ends at a dot (`seek`), a document's name, or a glob. Warn
    with RenamedWarning of an old name, and select what it stands for now.
    Raises ClauseError for a pattern that matches nothing.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        matching = set().union(*map(_matching, present_patterns(pattern)))
        if not matching:
            raise ClauseError(_unmatched(pattern))
        if renaming := notice(pattern):
            warnings.warn(renaming, RenamedWarning, stacklevel=2)
        chosen |= matching
    return [c for c in clauses().values() if c.id in chosen or not patterns]


def _unmatched(pattern: str) -> str:
    old = retired().get(pattern)
    return str(old) if old else f"no clause matches {pattern!r}{_suggest(pattern)}"


def _matching(pattern: str) -> set[str]:
    return {clause.id for clause in clauses().values() if _matches(clause, pattern)}


def _matches(clause: Clause, pattern: str) -> bool:
    if _GLOB & set(pattern):
        return fnmatchcase(clause.id, pattern)
    return pattern in (clause.id, clause.document) or clause.id.startswith(pattern + ".")


def _suggest(pattern: str) -> str:
    ids = list(clauses())
    groups = dict.fromkeys(i.split(".")[0] for i in ids)
    return near_misses(pattern, [*ids, *groups, *documents()]) or (
        f"; it takes an id such as {ids[0]}, a glob, a document ({', '.join(documents())})"
        f" or a group ({', '.join(groups)})"
    )


@lru_cache(maxsize=1)
def _data() -> list[dict[str, Any]]:
    parsed = [
        parse_yaml(entry.read_text(encoding="utf-8"))
        for entry in files("fscontract.specs").iterdir()
        if entry.name.endswith(".yaml")
    ]
    return sorted(
        (data for data in parsed if "clauses" in data),
        key=lambda data: (data["document"] != _FIRST, data["document"]),
    )


def _document(data: dict[str, Any]) -> Document:
    source = data["source"]
    version = f" ({source['version']})" if "version" in source else ""
    name = source["name"] + version
    return Document(data["document"], data["title"], name, data.get("api", STREAM))


def _clause(entry: dict[str, Any], document: Document) -> Clause:
    return Clause(
        id=entry["id"],
        level=Level(entry["level"]),
        section=entry["section"],
        statement=entry["statement"],
        document=document.name,
        reading=entry.get("reading", ""),
        needs=tuple(entry.get("needs", ())),
        checks=tuple(entry.get("checks", ())),
        untestable=entry.get("untestable", ""),
        because=entry.get("because", ""),
        refs=tuple(entry.get("refs", ())),
        examples=tuple(_example(e, entry["id"]) for e in entry.get("examples", ())),
        origin=entry.get("origin", ""),
        cost=_cost(entry["cost"], entry["id"]) if "cost" in entry else None,
        api=document.api,
    )


def _example(entry: dict[str, Any], where: str) -> Example:
    program = {**entry, "steps": entry["program"]}
    return Example(Program.from_json(program, f"{where}: example"), tuple(entry["expect"]))


def _cost(entry: dict[str, Any], where: str) -> Cost:
    before, steps = entry.get("before"), entry["steps"] * entry.get("repeat", 1)
    program = {
        "length": entry["length"],
        "open": {"calls": entry.get("calls", [])},
        "steps": (before or []) + steps,
    }
    parsed = Program.from_json(program, f"{where}: cost")
    unmetered = len(before or ())
    return Cost(
        length=parsed.length,
        calls=parsed.opening.calls if parsed.opening else (),
        before=None if before is None else parsed.steps[:unmetered],
        steps=parsed.steps[unmetered:],
        meter=entry["meter"],
        budget=entry["exactly"] if "exactly" in entry else entry["at-most"],
        exact="exactly" in entry,
    )
