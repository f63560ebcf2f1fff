"""Build the matrix of clauses and targets from untrusted JSON reports."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fscontract.contract import __version__
from fscontract.contract.runner.result import GLYPHS, RunVerdict, Verdict, verdict_of
from fscontract.contract.spec.clauses import clauses, documents
from fscontract.contract.untrusted import UntrustedError, load_json, load_text

#: Outcomes that must be explained by a finding.
RED = frozenset(
    {Verdict.FAIL, Verdict.KNOWN, Verdict.INHERITED, Verdict.LAX, Verdict.HANG, Verdict.CRASH}
)
#: The fields that distinguish columns of one name, in the order in which they are tried.
_APART = ("binding", "profile", "effort", "seed", "version", "started", "source")


@dataclass(frozen=True)
class Cell:
    """The outcome of one clause in one run; None if the clause was not selected."""

    outcome: Verdict | None = None
    actual: str = ""
    expected: tuple[str, ...] = ()
    reason: str = ""
    issue: str = ""
    #: The signature of each failure; empty in reports of versions without signatures.
    signatures: tuple[str, ...] = ()

    @property
    def red(self) -> bool:
        """True if a finding must explain it."""
        return self.outcome in RED

    @property
    def text(self) -> str:
        """The glyph and the word; empty if the clause was not selected."""
        return "" if self.outcome is None else f"{GLYPHS[self.outcome]} {self.outcome.value}"


#: The cell of a clause that was not selected.
NOT_SELECTED = Cell()


@dataclass
class Column:
    """One run on one target. `error` is the reason if it could not be set up, otherwise ""."""

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
        """The number of clauses by outcome."""
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
        """The number of columns by outcome."""
        return Counter(c.outcome for c in self.cells if c.outcome is not None)


@dataclass(frozen=True)
class Section:
    """The clauses of one section of a document."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class DocumentRows:
    """The clauses of one document."""

    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def rows(self) -> Iterator[Row]:
        """The rows of all sections."""
        return (row for section in self.sections for row in section.rows)


@dataclass(frozen=True)
class Matrix:
    """The whole table, and the time at which it was joined."""

    title: str
    joined: datetime
    columns: tuple[Column, ...]
    parts: tuple[DocumentRows, ...]

    @property
    def outcomes(self) -> tuple[Verdict, ...]:
        """The outcomes that occur, in their usual order."""
        present = {v for column in self.columns for v in column.counts}
        return tuple(v for v in Verdict if v in present)


def join(columns: Sequence[Column], title: str, joined: datetime) -> Matrix:
    """Join these columns in one table, in their order; columns with equal names get new ones."""
    _distinguish(columns)
    selected = dict.fromkeys(clause for column in columns for clause in column.cells)
    return Matrix(title, joined, tuple(columns), tuple(_parts(list(selected), columns)))


def _parts(selected: Iterable[str], columns: Sequence[Column]) -> Iterator[DocumentRows]:
    """Yield clauses in the order of the documents; unknown ones, of other versions, come last."""
    known = clauses()
    by_document: dict[str, dict[str, list[Row]]] = {name: {} for name in (*documents(), "")}
    for name in [
        *(c for c in known if c in set(selected)),
        *(c for c in selected if c not in known),
    ]:
        clause = known.get(name)
        key = (clause.document, clause.section) if clause else ("", "")
        level = clause.level.value if clause else _level(name, columns)
        cells = tuple(column.cells.get(name, NOT_SELECTED) for column in columns)
        row = Row(name, level, clause.statement if clause else "", cells)
        by_document[key[0]].setdefault(key[1], []).append(row)
    for document, sections in by_document.items():
        if sections:
            of = documents()[document].title if document else f"Not known to {__version__}"
            section_tuples = tuple(Section(title, tuple(rows)) for title, rows in sections.items())
            yield DocumentRows(document or "unknown", of, section_tuples)


def _level(clause: str, columns: Sequence[Column]) -> str:
    return next(column.levels[clause] for column in columns if clause in column.levels)


def _distinguish(columns: Sequence[Column]) -> None:
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.label, []).append(column)
    for label, group in groups.items():
        if len(group) > 1:
            for column, words in zip(group, _differences(group), strict=True):
                column.label = f"{label} ({', '.join(words)})" if words else label
    count: Counter[str] = Counter()
    for column in columns:
        count[column.label] += 1
        if count[column.label] > 1:
            column.label = f"{column.label} #{count[column.label]}"


def _differences(group: Sequence[Column]) -> list[list[str]]:
    """Return the shortest suffix that distinguishes each column from others of its name."""
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


class MatrixError(ValueError):
    """An invalid report; the message has the file and the error, in one line."""


def read_reports(path: Path, label: str = "") -> list[Column]:
    """Return a column for each target of a JSON report. Raise MatrixError for an invalid one.

    `label` replaces the target's name, or precedes it if the report has several.
    """
    data = _load(path)
    _validate(data, path)
    entries = data if isinstance(data, list) else [data]
    columns = [_column(entry, path) for entry in entries]
    for column in columns:
        if label:
            column.label = f"{label}: {column.target}" if len(columns) > 1 else label
    return columns


def _load(path: Path) -> Any:
    try:
        return load_json(path)
    except UntrustedError as error:
        raise MatrixError(str(error)) from None


def _validate(data: Any, path: Path) -> None:
    """Raise MatrixError for entries that violate the published schema, with the exact place."""
    if _validator("").is_valid(data):
        return
    fault = next(_faults(data), "a list of one report, or of none")
    raise MatrixError(f"{path}: not a report of fscontract: {fault}{_newer(data)}")


def _faults(data: Any) -> Iterator[str]:
    for number, entry in enumerate(data if isinstance(data, list) else [data]):
        kind = "notSetUp" if isinstance(entry, dict) and "error" in entry else "run"
        for error in _validator(kind).iter_errors(entry):
            keys = [number, *error.absolute_path] if isinstance(data, list) else error.absolute_path
            path = "".join(f"[{k}]" if isinstance(k, int) else f".{_short(k)}" for k in keys)
            yield f"{path.removeprefix('.') or 'top level'}: {_short(str(error.message))}"


def _newer(data: Any) -> str:
    """Return a hint if another version wrote the report."""
    entry = data[0] if isinstance(data, list) and data else data
    version = entry.get("fscontract") if isinstance(entry, dict) else None
    other = isinstance(version, str) and version != __version__
    return f" (written by {_short(str(version))}, this is {__version__})" if other else ""


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 160 else f"{plain[:100]} ... {plain[-50:]}"


@lru_cache(maxsize=3)
def _validator(kind: str) -> Any:
    """Return the validator of the whole schema, or of one of its definitions."""
    from jsonschema import Draft202012Validator

    text = files("fscontract.specs").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    if kind:
        schema = {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)


def _column(entry: Mapping[str, Any], path: Path) -> Column:
    common = {"label": entry["target"], "target": entry["target"], "source": str(path)}
    if "error" in entry:
        return Column(**common, version=entry["fscontract"], error=entry["error"])
    twice = [i for i, n in Counter(c["id"] for c in entry["clauses"]).items() if n > 1]
    if twice:
        raise MatrixError(f"{path}: not a report: duplicate {_short(twice[0])}")
    cells = {c["id"]: _cell(c) for c in entry["clauses"]}
    outcomes = {Verdict(c["outcome"]) for c in entry["clauses"]}
    verdict = verdict_of(outcomes, entry.get("incomplete", ""))
    if entry["conforms"] != (verdict is RunVerdict.CONFORMS):
        stated = "true" if entry["conforms"] else "false"
        raise MatrixError(
            f"{path}: not a report: conforms is {stated}, but its clauses contradict it"
        )
    return Column(
        **common,
        version=entry["fscontract"],
        binding=entry["binding"],
        profile=entry["profile"],
        effort=entry["effort"],
        seed=entry["seed"],
        started=entry["started"],
        versions=entry["versions"],
        conforms=entry["conforms"],
        cells=cells,
        levels={c["id"]: c["level"] for c in entry["clauses"]},
    )


def _cell(clause: Mapping[str, Any]) -> Cell:
    example = clause["counterexample"] or {}
    failures = (example, *clause.get("others", ()))
    return Cell(
        Verdict(clause["outcome"]),
        example.get("actual", ""),
        tuple(example.get("expected", ())),
        clause.get("reason", ""),
        clause.get("issue", ""),
        tuple(f["signature"] for f in failures if f.get("signature")),
    )


_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*")
#: The id of a finding, such as F1 or HADOOP-12.
_ID = re.compile(r"[A-Za-z]+-?\d+")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


@dataclass(frozen=True)
class Link:
    """A word of an `issue`; `address` is empty if it has no link."""

    text: str
    address: str = ""


@dataclass(frozen=True)
class Findings:
    """The findings of a Markdown file by their ids, each with its address.

    Without a file (`source` is ""), any text in the issue of a known failure counts as a finding.
    """

    source: str = ""
    anchors: Mapping[str, str] | None = None
    titles: Mapping[str, str] | None = None

    def links(self, issue: str) -> tuple[Link, ...]:
        """Return the words of an issue, with addresses where they are URLs or ids of findings."""
        return tuple(Link(word, self._address(word)) for word in re.split(r"[\s,]+", issue) if word)

    def _address(self, word: str) -> str:
        if word.startswith(("https://", "http://")):
            return word
        return (self.anchors or {}).get(word, "")

    def fault(self, cell: Cell) -> str:
        """Return the missing part of a cell that needs a finding, "" if nothing is missing."""
        links = self.links(cell.issue)
        if not cell.red or (links and self.anchors is None):
            return ""
        if not links:
            return "no issue is named"
        nowhere = [x.text for x in links if not x.address and _ID.fullmatch(x.text)]
        if nowhere or not any(x.address for x in links):
            return f"{' '.join(nowhere) or cell.issue}: not in {self.source}"
        return ""


@dataclass(frozen=True)
class Unexplained:
    """A cell without a finding, and the missing part."""

    column: Column
    clause: str
    cell: Cell
    fault: str


def load_findings(path: Path, address: str) -> Findings:
    """Return the findings of a file: headings that begin with an id, such as `### F1 Title`.

    `address` is the target of links to the file.
    """
    try:
        text = load_text(path)
    except UntrustedError as error:
        raise MatrixError(str(error)) from None
    anchors: dict[str, str] = {}
    titles: dict[str, str] = {}
    count: Counter[str] = Counter()
    for heading in headings(text):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = f"-{count[slug]}" if count[slug] else ""
        count[slug] += 1
        word, _, title = heading.partition(" ")
        if _ID.fullmatch(word) and title:
            anchors.setdefault(word, f"{address}#{slug}{number}")
            titles.setdefault(word, title)
    if not anchors:
        raise MatrixError(f"{path}: no heading such as '### F1 What is wrong'")
    return Findings(str(path), anchors, titles)


def headings(text: str) -> Iterator[str]:
    """Yield the headings of a Markdown text outside of code blocks."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and (match := _HEADING.fullmatch(line)):
            yield match[1]


def unexplained(matrix: Matrix, findings: Findings) -> list[Unexplained]:
    """Return the cells that need a finding and have none, column by column."""
    return [
        Unexplained(column, clause, cell, fault)
        for column in matrix.columns
        for clause, cell in column.cells.items()
        if (fault := findings.fault(cell))
    ]
