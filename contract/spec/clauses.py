"""The clauses of the specification, as data read from `specs/*.yaml`."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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

#: The document that all others build on comes first, regardless of its name.
_FIRST = "fsdatainputstream"
_GLOB = frozenset("*?[")
#: The start of a pattern that may be the name of a group.
_GROUP = re.compile(r"[a-z0-9]+(?=[.*?\[]|\Z)")
#: The default subject of a document: streams and their opening.
STREAM = "stream"


class ClauseError(ValueError):
    """A selection that matches no clause; the message is one line and suggests similar names."""


class Level(str, Enum):
    """The strength of a clause. UNSPECIFIED means that the text does not specify the behaviour."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    UNSPECIFIED = "UNSPECIFIED"

    def __str__(self) -> str:
        return self.value


class Consequence(str, Enum):
    """What a violation does to users, the worst first."""

    DATA = "data"
    POSITION = "position"
    HANG = "hang"
    LEAK = "leak"
    ERROR = "error"
    COST = "cost"
    CLAIM = "claim"

    def __str__(self) -> str:
        return self.value


#: The meaning of each consequence, for a legend.
CONSEQUENCES = {
    Consequence.DATA: "wrong, lost, stale or invented bytes",
    Consequence.POSITION: "a wrong position",
    Consequence.HANG: "a call that does not return, or ends the process",
    Consequence.LEAK: "a resource that is not released",
    Consequence.ERROR: "the wrong exception, or none",
    Consequence.COST: "more requests, lookups or memory than necessary",
    Consequence.CLAIM: "a wrong capability, statistic or attribute",
}


@dataclass(frozen=True)
class Example:
    """A program and the permitted outcomes of its last step, as in `specs/schema.json`."""

    program: Program
    expect: tuple[dict[str, Any], ...] = field(hash=False)


@dataclass(frozen=True)
class Cost:
    """A program on a file of `length` bytes opened by a builder, and its cost budgets.

    `before` are steps after which `meter` starts at 0; if it is None, it starts before the file is
    opened. The budgets are by read policy; "default" applies without a policy, and to each policy
    that is not listed.
    """

    length: int
    calls: tuple[BuilderCall, ...]
    before: tuple[Step, ...] | None
    steps: tuple[Step, ...]
    #: A key of `iostatistics.METERS`.
    meter: str
    budget: Mapping[str, int] = field(hash=False)
    #: True if the meter must equal the budget; otherwise the budget is an upper limit.
    exact: bool = False


@dataclass(frozen=True)
class Clause:
    """One normative statement. `needs` are feature names; "!" means the feature must be absent."""

    id: str
    level: Level
    #: The heading in the source document, or the place of a statement from elsewhere.
    section: str
    statement: str
    #: Name of the document, the stem of its file.
    document: str
    #: The interpretation chosen if the text contradicts itself.
    reading: str = ""
    needs: tuple[str, ...] = ()
    #: Names of the checks that judge it; empty exactly if `untestable` gives a reason.
    checks: tuple[str, ...] = ()
    untestable: str = ""
    #: The consequence of a violation for users.
    because: str = ""
    #: The same for ways to fail with another one, by a word of the failure's signature.
    ways: Mapping[str, str] = field(default_factory=dict, hash=False)
    refs: tuple[str, ...] = ()
    examples: tuple[Example, ...] = field(default=(), hash=False)
    #: The source of a statement that is not in the document.
    origin: str = ""
    #: What Hadoop's own test asks for beyond the statement (feature hadoop-tests).
    hadoop_test: str = ""
    #: The program with a bounded cost, if a check `cost.<meter>` judges the clause.
    cost: Cost | None = None
    #: The subject of the document, which is the kind of target that it judges.
    api: str = STREAM
    #: What a violation does to users; of no use without checks.
    consequence: Consequence = Consequence.ERROR

    @property
    def testable(self) -> bool:
        """True if any check judges the clause."""
        return bool(self.checks)

    def because_of(self, words: Collection[str]) -> str:
        """Return the consequence of a failure with these words in its signature."""
        return next((text for word, text in self.ways.items() if word in words), self.because)

    @property
    def citation(self) -> str:
        """The title of the document, and the section with the statement."""
        document = documents().get(self.document)
        return f"{document.title if document else self.document} § {self.section}"


@dataclass(frozen=True)
class Retired:
    """The id of a removed clause, with the version and the reason; it is never used again.

    `instead` are the clauses that replace it, if it was not withdrawn.
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
    """A source document: the stem of its file, its title, its source and its subject."""

    name: str
    title: str
    source: str
    api: str = STREAM


#: The document that is judged only in runs with faults.
FAULTS = "faults"
#: The document that is judged only in runs on a misbehaving server.
SERVER_FAULTS = "server-faults"


def near_misses(name: str, known: Iterable[str]) -> str:
    """Return `"; did you mean A or B?"`, or an empty string if no known name resembles `name`."""
    matches = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


@lru_cache(maxsize=1)
def clauses() -> dict[str, Clause]:
    """Return every clause of every document by its id, in file order."""
    return {
        clause.id: clause
        for data in _data()
        for clause in (_clause(entry, data) for entry in data["clauses"])
    }


@lru_cache(maxsize=1)
def documents() -> dict[str, Document]:
    """Return every document that has clauses, by name, in the order of `clauses()`."""
    return {d["document"]: _document(d) for d in _data()}


@lru_cache(maxsize=1)
def renamed() -> tuple[Renamed, ...]:
    """Return the renames of each version, from `specs/renames.yaml`."""
    text = files("fscontract.specs").joinpath("renames.yaml").read_text(encoding="utf-8")
    return tuple(Renamed(**entry) for entry in parse_yaml(text)["renamed"])


@lru_cache(maxsize=1)
def retired() -> dict[str, Retired]:
    """Return all retired clauses by id."""
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
    """Return the current id of a clause, or `name` if there is none or more than one."""
    old = retired().get(name)
    return old.instead[0] if old is not None and len(old.instead) == 1 else name


def read_id(name: str) -> str:
    """Return `present(name)`; warn with RenamedWarning if the id changed."""
    current = present(name)
    if current != name:
        warnings.warn(str(retired()[name]), RenamedWarning, stacklevel=2)
    return current


def read_name(kind: str, name: str) -> str:
    """Return `present_name(kind, name)`; warn with RenamedWarning if the name changed."""
    current = present_name(kind, name)
    if current != name:
        warnings.warn(f"{name} is {current} now", RenamedWarning, stacklevel=2)
    return current


def present_name(kind: str, name: str) -> str:
    """Return the current name of a target or profile; `kind` is "targets" or "profiles"."""
    names = (getattr(version, kind).get(name) for version in renamed())
    return next((new for new in names if new), name)


def notice(pattern: str) -> str:
    """Return a line that gives the current name for an old one; "" for a current name."""
    if pattern in retired():
        return str(retired()[pattern])
    version, current = _current(pattern)
    if version is None:
        return ""
    return f"{pattern} is {current} since {version.since}: {version.reason}"


def present_patterns(pattern: str) -> tuple[str, ...]:
    """Return the patterns that replace an old name, or the pattern itself."""
    old = retired().get(pattern)
    return (_current(pattern)[1],) if old is None else old.instead


def _current(pattern: str) -> tuple[Renamed | None, str]:
    """Return the version that renamed the document or group of a pattern, and the current pattern.

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
    """Return the clauses that match any pattern, in file order; all clauses without patterns.

    A pattern is an id, a prefix that ends at a dot (`seek`), a document's name, or a glob. An old
    name selects its replacement, with a RenamedWarning. Raise ClauseError for a pattern that
    matches nothing.
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
        f"; expected an id such as {ids[0]}, a glob, a document ({', '.join(documents())})"
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


def _ways(listed: Sequence[Any], shared: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each word: that of the clause, or of a word alone the `shared` one."""
    ways: dict[str, str] = {}
    for way in listed:
        ways |= {way: shared[way]} if isinstance(way, str) else way
    return ways


def _clause(entry: dict[str, Any], data: dict[str, Any]) -> Clause:
    """Return the clause of an entry of a document."""
    document = _document(data)
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
        ways=_ways(entry.get("ways", ()), data.get("ways", {})),
        refs=tuple(entry.get("refs", ())),
        examples=tuple(_example(e, entry["id"]) for e in entry.get("examples", ())),
        origin=entry.get("origin", ""),
        hadoop_test=entry.get("hadoop-test", ""),
        cost=_cost(entry["cost"], entry["id"]) if "cost" in entry else None,
        api=document.api,
        consequence=Consequence(entry.get("consequence", Consequence.ERROR)),
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
