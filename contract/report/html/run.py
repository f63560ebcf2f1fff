"""Render the HTML page of a run, with a lane for each thread of a concurrent failure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from fscontract.contract import __version__
from fscontract.contract.report.html.page import page, text
from fscontract.contract.report.html.timeline import Timeline, timeline
from fscontract.contract.report.text import because, observed, worst_first
from fscontract.contract.runner.result import (
    FAILING,
    GLYPHS,
    MEANINGS,
    UNVERIFIED,
    Cause,
    ClauseResult,
    Counterexample,
    Entry,
    Group,
    NotSetUp,
    Verdict,
)
from fscontract.contract.spec.clauses import Level, documents
from fscontract.contract.text import plural

#: A line such as `3  T1 seek(0)  starts`, or `thread 1: seek(0)`.
_LINE = re.compile(r"\s*(?:(\d+)\s+T(\d+)|thread (\d+):)\s+(.*)", re.DOTALL)
#: The maximum of threads in a schedule.
_MAX_THREADS = 16


class Event(NamedTuple):
    """One line; `thread` is None for a line without a thread.

    `lanes` has the state of each thread: running, waiting within a call, or idle.
    """

    number: str
    thread: int | None
    text: str
    lanes: tuple[str, ...]
    last: bool


class Lanes(NamedTuple):
    """The lines of an interleaving; `threads` are the numbers of its threads."""

    threads: tuple[int, ...]
    events: tuple[Event, ...]


def lanes(lines: Sequence[str]) -> Lanes | None:
    """Return the lanes of an interleaving, None if the lines are not one."""
    matches = [_LINE.fullmatch(line) for line in lines]
    numbers = {int(m[2] or m[3]) for m in matches if m}
    if not numbers or max(numbers) >= _MAX_THREADS:
        return None
    threads = tuple(range(max(numbers) + 1))
    busy: set[int] = set()
    events = []
    for index, (line, match) in enumerate(zip(lines, matches, strict=True), 1):
        last = index == len(lines)
        if match is None:
            events.append(Event("", None, line.strip(), _states(threads, None, busy), last))
            continue
        thread, text = int(match[2] or match[3]), match[4].strip()
        states = _states(threads, thread, busy)
        events.append(Event(match[1] or "", thread, text, states, last))
        if text.endswith("starts"):
            busy.add(thread)
        elif not re.match(r"(paused|continues|blocked|waits)\b", text):
            busy.discard(thread)
    return Lanes(threads, tuple(events))


def _states(threads: tuple[int, ...], running: int | None, busy: set[int]) -> tuple[str, ...]:
    return tuple("runs" if t == running else "waits" if t in busy else "idle" for t in threads)


#: Advice for clauses that were not verified.
_HINTS = {
    Verdict.UNDECLARED: (
        "If the target has it, declare it with --features or in a profile; "
        "'only without' is for targets that lack it."
    ),
    Verdict.INEXPRESSIBLE: "Nothing to do: callers of this API can't meet the case either.",
    Verdict.UNEXERCISED: "A higher --effort runs more programs.",
    Verdict.ERROR: "Run it again once the way to the target is clear.",
}
#: The groups of findings that have no cause in the target.
_EXPLAINED = (("Inherited", Verdict.INHERITED), ("Known failures", Verdict.KNOWN))


class Section(NamedTuple):
    """The clauses of one section of a document; `key` is its name in links."""

    key: str
    title: str
    rows: tuple[ClauseResult, ...]


class DocumentResults(NamedTuple):
    """The clauses of one document."""

    title: str
    sections: tuple[Section, ...]

    @property
    def size(self) -> int:
        """The number of its clauses."""
        return sum(len(section.rows) for section in self.sections)


#: The further failures of a clause that the page shows.
_MAX_OTHERS = 9


class Finding(NamedTuple):
    """A clause that does not hold, with its program as a drawing."""

    result: ClauseResult
    timeline: Timeline | None
    lanes: Lanes | None
    #: The other clauses that the same cause probably violates.
    same: tuple[Finding, ...] = ()

    @property
    def expected(self) -> str:
        """The permitted outcomes."""
        example = self.result.counterexample
        return " or ".join(example.expected) if example else ""

    @property
    def actual(self) -> str:
        """The actual outcome."""
        example = self.result.counterexample
        return example.actual if example else ""

    @property
    def difference(self) -> str:
        """The first byte that differs, "" if the outcome shows it."""
        example = self.result.counterexample
        return example.difference if example else ""

    @property
    def others(self) -> tuple[Counterexample, ...]:
        """Further failures of the clause, as many as the page shows."""
        return self.result.others[:_MAX_OTHERS]

    @property
    def more(self) -> str:
        """The number of failures that the page leaves out, "" if none."""
        count = len(self.result.others) - _MAX_OTHERS
        return "" if count <= 0 else f"{plural(count, 'failure')} more in the JSON report"

    @property
    def commands(self) -> list[str]:
        """The commands to reproduce it, and to read more."""
        example = self.result.counterexample
        replay = [example.replay_command] if example and example.replay_command else []
        return [*replay, f"fscontract explain {self.result.clause.id}"]


class Tile(NamedTuple):
    """A number of the summary."""

    number: int
    word: str
    outcome: str
    href: str


class View:
    """One target as the page shows it; `number` counts from 1."""

    def __init__(self, number: int, entry: Entry) -> None:
        self.number = number
        self.entry = entry
        self.target = entry.target
        self.error = entry.message if isinstance(entry, NotSetUp) else ""
        self.result = None if isinstance(entry, NotSetUp) else entry

    def link(self, **state: str) -> str:
        """Return the hash that links to a part of this target; the first target is the default."""
        named = {"target": str(self.number)} if self.number > 1 else {}
        return urlencode({**named, **state})

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        return "could not be set up" if self.result is None else self.result.verdict_line

    @property
    def conforms(self) -> bool:
        """True if the target conforms."""
        return self.result is not None and self.result.conforms

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The programs and settings of the run."""
        if self.result is None:
            return []
        run = self.result
        counts = [f"{count:,} {name}" for name, count in run.counts.items()]
        versions = [f"{name} {version}" for name, version in run.versions.items()]
        return [
            *([("Incomplete", run.incomplete)] if run.incomplete else []),
            ("Binding", run.binding),
            ("Profile", run.profile),
            *([("Observed", observed(run))] if run.observed else []),
            ("Effort", run.effort),
            ("Seed", str(run.seed)),
            ("Started", run.started.strftime("%Y-%m-%d %H:%M:%S %Z")),
            ("Took", f"{run.seconds:.1f} s"),
            ("Ran", ", ".join(counts)),
            *([("Boundaries", ", ".join(map(str, run.boundaries)))] if run.boundaries else []),
            ("Versions", ", ".join([f"fscontract {__version__}", *versions])),
        ]

    @property
    def tiles(self) -> list[Tile]:
        """The numbers of clauses that hold, fail, are known, and were not verified."""
        count = Counter(r.outcome for r in self._clauses)
        failing = sum(count[v] for v in FAILING)
        fail = "fails" if failing == 1 else "fail"
        tiles = [
            Tile(count[Verdict.PASS], "hold", "pass", self.link(outcome="pass")),
            Tile(failing, fail, "failing", f"found-{self.number}-1"),
            Tile(count[Verdict.LAX], "lax", "lax", self.link(outcome="lax")),
            Tile(
                count[Verdict.INHERITED],
                "inherited",
                "inherited",
                self.link(outcome="inherited"),
            ),
            Tile(count[Verdict.KNOWN], "known", "known", self.link(outcome="known")),
            Tile(self.unverified, "not verified", "unverified", f"unverified-{self.number}"),
        ]
        return [t for t in tiles if t.number or t.outcome not in ("lax", "inherited", "known")]

    @property
    def outcomes(self) -> list[Verdict]:
        """The outcomes that occur."""
        present = {r.outcome for r in self._clauses}
        return [v for v in Verdict if v in present]

    def counts(self) -> Iterator[tuple[str, list[tuple[int, str]]]]:
        """For each level, the number of clauses by outcome, with links to them."""
        count = Counter((r.clause.level, r.outcome) for r in self._clauses)
        for level in Level:
            if any(count[level, v] for v in self.outcomes):
                cells = [
                    (count[level, v], self.link(level=level.value, outcome=v.value))
                    for v in self.outcomes
                ]
                yield level.value, cells

    @property
    def groups(self) -> list[tuple[Verdict, list[Group]]]:
        """The clauses that were not verified, by outcome and reason."""
        groups: dict[Verdict, list[Group]] = {}
        for group in () if self.result is None else self.result.unverified:
            groups.setdefault(group.outcome, []).append(group)
        return list(groups.items())

    @property
    def unverified(self) -> int:
        """The number of clauses that were not verified."""
        return sum(r.outcome in UNVERIFIED for r in self._clauses)

    @property
    def findings(self) -> list[tuple[str, list[Finding]]]:
        """The clauses that do not hold, by cause, most serious first."""
        causes = () if self.result is None else self.result.causes
        lax = [c for c in causes if c.clause.outcome is Verdict.LAX]
        kinds = [
            (
                "Violations",
                [self._of_cause(c) for c in causes if c not in lax] + self._findings(Verdict.FIXED),
            ),
            ("Not as recommended", [self._of_cause(c) for c in lax]),
            *((title, self._findings(verdict)) for title, verdict in _EXPLAINED),
        ]
        return [(title, results) for title, results in kinds if results]

    @property
    def parts(self) -> list[DocumentResults]:
        """Every clause, by document and section, in the order of the run."""
        by_document: dict[str, dict[str, list[ClauseResult]]] = {}
        for result in self._clauses:
            sections = by_document.setdefault(result.clause.document, {})
            sections.setdefault(result.clause.section, []).append(result)
        return [_part(document, sections) for document, sections in by_document.items()]

    @property
    def _clauses(self) -> Sequence[ClauseResult]:
        return () if self.result is None else self.result.clauses

    def _of_cause(self, cause: Cause) -> Finding:
        same = tuple(_finding(other, self._buffer) for other in cause.others)
        return _finding(cause.clause, self._buffer)._replace(same=same)

    def _findings(self, verdict: Verdict) -> list[Finding]:
        found = worst_first(r for r in self._clauses if r.outcome is verdict)
        return [_finding(r, self._buffer) for r in found]

    @property
    def _buffer(self) -> int:
        return 0 if self.result is None else self.result.buffer


def render(entries: Sequence[Entry]) -> str:
    """Return the page as one file that loads nothing."""
    views = [View(number, entry) for number, entry in enumerate(entries, 1)]
    return page(
        "run.html.j2",
        "run.js",
        text("run.css"),
        title=_title(entries),
        views=views,
        version=__version__,
        glyphs=GLYPHS,
        meanings=MEANINGS,
        because=because,
        hints=_HINTS,
        plural=plural,
        failing=sorted(v.value for v in FAILING),
        unverified=sorted(v.value for v in UNVERIFIED),
    )


def _title(entries: Sequence[Entry]) -> str:
    if len(entries) == 1:
        return f"{entries[0].target}: fscontract"
    return f"fscontract: {plural(len(entries), 'target')}"


def _part(document: str, sections: dict[str, list[ClauseResult]]) -> DocumentResults:
    known = documents().get(document)
    return DocumentResults(
        known.title if known else document,
        tuple(Section(f"{document}: {s}", s, tuple(rows)) for s, rows in sections.items()),
    )


def _finding(result: ClauseResult, buffer: int) -> Finding:
    example = result.counterexample
    drawing = None if example is None else timeline(example, buffer)
    return Finding(result, drawing, lanes(example.interleaving if example else ()))
