"""The table: a row for each clause, a column for each target, and in each cell one outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fscontract import __version__
from fscontract.contract.clauses import clauses, documents
from fscontract.contract.suite.result import Verdict

#: What stands before the word of an outcome. Each differs, so that colour only helps.
GLYPHS = {
    Verdict.PASS: "✓",
    Verdict.LAX: "~",
    Verdict.FAIL: "✗",
    Verdict.KNOWN: "◆",
    Verdict.FIXED: "↑",
    Verdict.UNDECLARED: "-",
    Verdict.INEXPRESSIBLE: "∅",
    Verdict.UNEXERCISED: "○",
    Verdict.ERROR: "!",
    Verdict.HANG: "∞",
    Verdict.CRASH: "†",
}
#: What each outcome says, for a legend.
MEANINGS = {
    Verdict.PASS: "holds",
    Verdict.LAX: "a SHOULD that is not kept",
    Verdict.FAIL: "is violated",
    Verdict.KNOWN: "is violated, as listed in a file of known failures",
    Verdict.FIXED: "is listed as known, but holds",
    Verdict.UNDECLARED: "needs a feature that the profile does not declare",
    Verdict.INEXPRESSIBLE: "the API has no word for it",
    Verdict.UNEXERCISED: "no program reached it",
    Verdict.ERROR: "no verdict: calls were lost to the network or the set-up",
    Verdict.HANG: "a program did not end",
    Verdict.CRASH: "a program ended the process",
}
#: Outcomes that need a finding which explains them.
RED = frozenset({Verdict.FAIL, Verdict.KNOWN, Verdict.LAX, Verdict.HANG, Verdict.CRASH})
#: What tells columns of one name apart, in the order in which it is tried.
_APART = ("binding", "profile", "effort", "seed", "version", "started", "source")


@dataclass(frozen=True)
class Cell:
    """What one run says of one clause; `outcome` is None if it was not asked."""

    outcome: Verdict | None = None
    actual: str = ""
    expected: tuple[str, ...] = ()
    reason: str = ""
    issue: str = ""
    #: The way it fails, "" if it does not or the report is of a version that did not tell.
    signature: str = ""

    @property
    def red(self) -> bool:
        """Whether a finding has to explain it."""
        return self.outcome in RED

    @property
    def text(self) -> str:
        """Glyph and word, empty if the run was not asked."""
        return "" if self.outcome is None else f"{GLYPHS[self.outcome]} {self.outcome.value}"


#: The cell of a run that was not asked about the clause.
NOT_ASKED = Cell()


@dataclass
class Column:
    """One run on one target. `error` says why it could not be set up, "" if it could."""

    label: str
    target: str
    #: The report's file.
    source: str
    #: The version of the kit.
    version: str
    error: str = ""
    binding: str = ""
    profile: str = ""
    effort: str = ""
    seed: int | None = None
    started: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    conforms: bool = False
    cells: Mapping[str, Cell] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[Verdict]:
        """How many clauses came out how."""
        return Counter(c.outcome for c in self.cells.values() if c.outcome is not None)

    @property
    def verdict(self) -> str:
        """`conforms`, `does not conform` or `not set up`."""
        if self.error:
            return "not set up"
        return "conforms" if self.conforms else "does not conform"


@dataclass(frozen=True)
class Row:
    """One clause, with a cell for each column."""

    clause: str
    level: str
    statement: str
    cells: tuple[Cell, ...]

    @property
    def counts(self) -> Counter[Verdict]:
        """In how many columns it came out how."""
        return Counter(c.outcome for c in self.cells if c.outcome is not None)


@dataclass(frozen=True)
class Section:
    """The clauses of one section of a document."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Part:
    """The clauses of one document."""

    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def rows(self) -> Iterator[Row]:
        """All of them."""
        return (row for section in self.sections for row in section.rows)


@dataclass(frozen=True)
class Matrix:
    """The whole table; `made` is when."""

    title: str
    made: datetime
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]

    @property
    def outcomes(self) -> tuple[Verdict, ...]:
        """Those that occur, in their usual order."""
        found = {v for column in self.columns for v in column.counts}
        return tuple(v for v in Verdict if v in found)


def join(columns: Sequence[Column], title: str, made: datetime) -> Matrix:
    """One table of these columns, in their order; those of one name get names that differ."""
    _tell_apart(columns)
    asked = dict.fromkeys(clause for column in columns for clause in column.cells)
    return Matrix(title, made, tuple(columns), tuple(_parts(list(asked), columns)))


def _parts(asked: Iterable[str], columns: Sequence[Column]) -> Iterator[Part]:
    """Clauses in the order of the documents; those of no document, by another version, are last."""
    known = clauses()
    places: dict[str, dict[str, list[Row]]] = {name: {} for name in (*documents(), "")}
    for name in [*(c for c in known if c in set(asked)), *(c for c in asked if c not in known)]:
        clause = known.get(name)
        where = (clause.document, clause.section) if clause else ("", "")
        level = clause.level.value if clause else _level(name, columns)
        cells = tuple(column.cells.get(name, NOT_ASKED) for column in columns)
        row = Row(name, level, clause.statement if clause else "", cells)
        places[where[0]].setdefault(where[1], []).append(row)
    for document, sections in places.items():
        if sections:
            of = documents()[document].title if document else f"Not known to {__version__}"
            made = tuple(Section(title, tuple(rows)) for title, rows in sections.items())
            yield Part(document or "unknown", of, made)


def _level(clause: str, columns: Sequence[Column]) -> str:
    return next(column.levels[clause] for column in columns if clause in column.levels)


def _tell_apart(columns: Sequence[Column]) -> None:
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.label, []).append(column)
    for label, group in groups.items():
        if len(group) > 1:
            for column, words in zip(group, _differences(group), strict=True):
                column.label = f"{label} ({', '.join(words)})" if words else label
    seen: Counter[str] = Counter()
    for column in columns:
        seen[column.label] += 1
        if seen[column.label] > 1:
            column.label = f"{column.label} #{seen[column.label]}"


def _differences(group: Sequence[Column]) -> list[list[str]]:
    """For each column as few words as tell it from the others of its name."""
    words: list[list[str]] = [[] for _ in group]
    for name in _APART:
        values = [str(getattr(column, name)) for column in group]
        if len({tuple(w) for w in words}) == len(group):
            break
        together = {(*w, v) for w, v in zip(words, values, strict=True)}
        if len(together) > len({tuple(w) for w in words}):
            for own, value in zip(words, values, strict=True):
                own.append(f"{name} {value}" if value else f"no {name}")
    return words
