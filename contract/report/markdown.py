"""Render a run as Markdown, and what changed since a baseline."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from fscontract.contract.report.text import out_of_time, table
from fscontract.contract.runner.baseline import Change, Comparison, Difference
from fscontract.contract.runner.result import (
    Cause,
    ClauseResult,
    Entry,
    NotSetUp,
    RunResult,
    Verdict,
    causes_of,
)
from fscontract.contract.text import plural, printable


def render(entries: Sequence[Entry]) -> str:
    """Return a section for each target; ends with a newline."""
    return "\n".join(line for entry in entries for line in _section(entry))


def render_briefly(entries: Sequence[Entry]) -> str:
    """Return a line for each target; ends with a newline."""
    return "".join(f"- **{cell(entry.target)}**: {cell(_verdict(entry))}\n" for entry in entries)


def cell(text: str) -> str:
    """Escape `text` for a cell of a table."""
    escaped = html.escape(" ".join(printable(text).split()), quote=False)
    return "".join(f"\\{c}" if c in "\\|`*_[]~" else c for c in escaped)


def _section(entry: Entry) -> Iterable[str]:
    yield f"## fscontract: {cell(entry.target)}"
    yield ""
    if isinstance(entry, NotSetUp):
        yield f"**could not be set up**: {cell(entry.message)}"
        yield ""
        return
    yield f"**{cell(entry.verdict_line)}**"
    yield ""
    yield cell(
        f"binding {entry.binding}, profile {entry.profile}, effort {entry.effort}, "
        f"seed {entry.seed}, {entry.seconds:.1f} s"
    )
    yield ""
    notes = [out_of_time(entry)] if entry.cut_short else []
    notes += [f"Warning: {text}" for text in entry.warnings]
    if notes:
        yield from (f"- {cell(note)}" for note in notes)
        yield ""
    yield from table_lines(table(entry))
    causes = entry.causes
    fixed = causes_of(r for r in entry.clauses if r.outcome is Verdict.FIXED)
    failed = [c for c in causes if c.clause.outcome is not Verdict.LAX]
    yield from _failures("Violations", [*failed, *fixed])
    lax = [c for c in causes if c.clause.outcome is Verdict.LAX]
    yield from _failures("Not as recommended", lax)
    explained = (Verdict.INHERITED, Verdict.KNOWN)
    yield from _known([r for r in entry.clauses if r.outcome in explained])
    yield from _unverified(entry)


def _verdict(entry: Entry) -> str:
    if isinstance(entry, NotSetUp):
        return f"could not be set up: {entry.message}"
    return entry.verdict_line


def _failures(title: str, causes: Sequence[Cause]) -> Iterable[str]:
    if not causes:
        return
    rows = [["Cause", "Clause", "Level", "Statement", "Program", "Expected", "Actual"]]
    numbered = [(n, r) for n, c in enumerate(causes, 1) for r in (c.clause, *c.others)]
    for number, result in numbered:
        example = result.counterexample
        rows.append(
            [
                str(number),
                result.clause.id,
                result.clause.level.value,
                result.clause.statement,
                str(example.program or "") if example else "",
                " or ".join(example.expected) if example else "",
                example.actual if example else f"{result.outcome.value}: {result.reason}",
            ]
        )
    yield from _titled(title, rows)


def _known(results: list[ClauseResult]) -> Iterable[str]:
    if results:
        rows = [[r.clause.id, r.clause.level.value, r.reason] for r in results]
        yield from _titled("Known", [["Clause", "Level", "Reason"], *rows])


def _unverified(result: RunResult) -> Iterable[str]:
    groups = result.unverified
    if groups:
        rows = [[g.outcome.value, g.reason, " ".join(g.clauses)] for g in groups]
        yield from _titled("Not verified", [["Outcome", "Reason", "Clauses"], *rows])


def _titled(title: str, rows: list[list[str]]) -> Iterable[str]:
    yield f"### {title}"
    yield ""
    yield from table_lines(rows)


def table_lines(rows: list[list[str]]) -> Iterable[str]:
    """Yield the lines of a table whose first row is the heading, and an empty line."""
    for number, row in enumerate(rows):
        yield f"| {' | '.join(cell(text) for text in row)} |"
        if number == 0:
            yield f"|{' --- |' * len(row)}"
    yield ""


#: The changes that are listed one by one; unchanged outcomes are only counted.
_LISTED = (Change.NEW, Change.VANISHED, Change.UNEXERCISED, Change.FIXED)
#: The changes that are counted even if there are none.
_ALWAYS = (Change.NEW, Change.VANISHED, Change.FIXED)


def as_lines(name: str, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield the differences from the baseline of this name, and their counts."""
    yield printable(f"baseline {name}")
    width = max(
        (len(c) for c in _LISTED if any(comparison.of(c) for comparison in comparisons)), default=0
    )
    for comparison in comparisons:
        target = comparison.target
        for remark in comparison.remarks:
            yield printable(f"  {target}: {remark}")
        for change in _LISTED:
            for difference in comparison.of(change):
                yield printable(f"  {change.value:{width}}  {target}: {_sentence(difference)}")
    yield f"  {tally(comparisons)}"


def as_markdown(name: str, comparisons: Sequence[Comparison]) -> str:
    """Return a section for a job's summary; ends with a newline."""
    rows = [["Change", "Target", "Clause", "Now", "In the baseline"]]
    for comparison in comparisons:
        for change in _LISTED:
            rows += [
                [
                    change.value,
                    comparison.target,
                    difference.clause,
                    difference.now,
                    difference.before,
                ]
                for difference in comparison.of(change)
            ]
    lines = [f"## Beside {cell(name)}", "", f"**{tally(comparisons)}**", ""]
    if len(rows) > 1:
        lines += table_lines(rows)
    return "".join(f"{line}\n" for line in lines)


def tally(comparisons: Sequence[Comparison]) -> str:
    """Return the counts of changes, such as `1 new, 0 vanished, 2 fixed, 3 fail as before`."""
    count = Counter(d.change for c in comparisons for d in c.differences)
    listed = [change for change in _LISTED if count[change] or change in _ALWAYS]
    parts = [f"{count[change]} {change.value}" for change in listed]
    standing = count[Change.STANDING]
    verb = "fails" if standing == 1 else "fail"
    return ", ".join([*parts, f"{plural(standing, 'clause')} {verb} as before"])


def _sentence(difference: Difference) -> str:
    text = f"{difference.clause}: {difference.now} ({difference.before})"
    return " ".join(text.split())
