"""Phrases, counts and blocks of text that reports share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import NamedTuple
from unicodedata import category

from fscontract.contract.runner.result import (
    INTERRUPTED,
    SHOWN,
    UNVERIFIED,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.spec.clauses import Clause, Level, documents


class Group(NamedTuple):
    """Clauses that were not verified for one and the same reason."""

    outcome: Verdict
    reason: str
    clauses: tuple[str, ...]


#: Categories of characters that drive a terminal, turn the order of others around, show as
#: nothing, end a line, or are not characters: names could be shown as what they are not.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return `text` with escapes for characters that must not reach a terminal or XML.

    Newlines stay.
    """
    return escaped(text, lambda c: c.encode("unicode_escape").decode("ascii"))


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """Return `text` in which `escape` replaces each of the characters that `printable` escapes."""
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or _shows(c) else escape(c) for c in text)


def _shows(char: str) -> bool:
    return category(char) not in _HIDDEN and ord(char) & 0xFFFE != 0xFFFE


def place(clause: Clause) -> str:
    """Where the clause stands: the document's title and the section."""
    known = documents().get(clause.document)
    return f"{known.title if known else clause.document} § {clause.section}"


def plural(count: int, noun: str) -> str:
    """`1 clause`, `2 clauses`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def unverified(result: RunResult) -> list[Group]:
    """What the run did not verify, grouped by outcome and reason, in the order of outcomes."""
    groups: dict[tuple[Verdict, str], list[str]] = {}
    for found in result.clauses:
        if found.outcome in UNVERIFIED:
            groups.setdefault((found.outcome, found.reason), []).append(found.clause.id)
    order = list(Verdict)
    return [
        Group(outcome, reason, tuple(ids))
        for (outcome, reason), ids in sorted(groups.items(), key=lambda g: order.index(g[0][0]))
    ]


def table(result: RunResult) -> list[list[str]]:
    """Counts of clauses by level and outcome; the first row is the heading, the last the sum."""
    counts = Counter((r.clause.level, r.outcome) for r in result.clauses)
    outcomes = [v for v in Verdict if any(counts[level, v] for level in Level)]
    rows = [["", *(v.value for v in outcomes), "all"]]
    for level in Level:
        row = [counts[level, v] for v in outcomes]
        if any(row):
            rows.append([level.value, *map(str, row), str(sum(row))])
    sums = [sum(counts[level, v] for level in Level) for v in outcomes]
    rows.append(["all", *map(str, sums), str(sum(sums))])
    return rows


def verdict_line(result: RunResult) -> str:
    """The run in one sentence, such as `conforms: 112 clauses hold, 31 not verified`."""
    count = Counter(r.outcome for r in result.clauses)
    skipped = sum(count[v] for v in UNVERIFIED)
    verified = len(result.clauses) - skipped
    failed = sum(count[v] for v in SHOWN)
    parts = []
    held = count[Verdict.PASS]
    if result.conforms or (result.incomplete and held and not failed):
        parts.append(f"{plural(held, 'clause')} {'holds' if held == 1 else 'hold'}")
    elif failed:
        verb = "fails" if failed == 1 else "fail"
        parts.append(f"{failed} of {plural(verified, 'verified clause')} {verb}")
    elif not verified:
        parts.append("no clause was verified")
    if count[Verdict.FIXED]:
        parts.append(f"{plural(count[Verdict.FIXED], 'known failure')} no longer there")
    if count[Verdict.LAX]:
        parts.append(f"{count[Verdict.LAX]} lax")
    if count[Verdict.KNOWN]:
        parts.append(f"{count[Verdict.KNOWN]} known")
    if skipped:
        parts.append(f"{skipped} not verified")
    return f"{_verdict(result)}: {', '.join(parts)}"


def _verdict(result: RunResult) -> str:
    """Return the first words of the verdict line."""
    if result.conforms:
        return "conforms"
    if result.incomplete.startswith(INTERRUPTED):
        return "interrupted"
    return "incomplete" if result.incomplete else "does not conform"


_WIDTH = 98
_LABEL = 10


def failure_block(result: ClauseResult, width: int = _WIDTH) -> list[str]:
    """Everything a reader needs of a failed clause: statement, program, outcomes, what to run."""
    clause = result.clause
    lines = [f"{_word(result)}  {clause.id}  {clause.level}  {place(clause)}"]
    lines += [f"  {line}" for line in wrap(clause.statement, width - 2)]
    if result.outcome is Verdict.FIXED:
        lines += _labelled(width, "actual", "passes, but is listed as known: take the entry out")
        lines += _labelled(width, "reason", result.reason)
    elif result.counterexample is not None:
        lines += _shown(result.counterexample, width)
    else:
        lines += _labelled(width, "reason", result.reason)
    lines += _labelled(width, "because", clause.because)
    if result.counterexample is not None and result.counterexample.again:
        lines.append(
            f"  {'again':{_LABEL}} {result.counterexample.again}"
        )  # to be copied: one line
    lines += _labelled(width, "explain", f"fscontract explain {clause.id}")
    return [printable(line) for line in lines]


def short_block(result: ClauseResult, width: int = _WIDTH) -> list[str]:
    """A SHOULD that is not kept, without its reasons."""
    clause, found = result.clause, result.counterexample
    lines = [f"{_word(result)}  {clause.id}  {clause.level}  {place(clause)}"]
    lines += [f"  {line}" for line in wrap(clause.statement, width - 2)]
    if found is not None:
        lines += _labelled(width, "program", str(found.program) if found.program else "")
        lines += _labelled(width, "expected", _alternatives(found))
        lines += _labelled(width, "actual", found.actual)
    return [printable(line) for line in lines]


def known_line(result: ClauseResult) -> str:
    """A known failure in a line."""
    return printable(f"{_word(result)}  {result.clause.id}  {' '.join(result.reason.split())}")


def summary_of(result: ClauseResult) -> str:
    """The outcome as one line without the clause's name, for lists and attributes."""
    found = result.counterexample
    if result.outcome is Verdict.FIXED or found is None:
        text = result.reason
    else:
        text = f"{found.actual}, expected {_alternatives(found)}"
    return printable(" ".join(text.split())) or result.outcome.value


def _shown(found: Counterexample, width: int) -> Iterator[str]:
    if found.program is not None:
        yield from _labelled(width, "program", str(found.program))
        if 0 < found.step <= len(found.program.steps) and len(found.program.steps) > 1:
            yield from _labelled(
                width, "at step", f"{found.step}: {found.program.steps[found.step - 1]}"
            )
    yield from _labelled(width, "expected", _alternatives(found))
    yield from _labelled(width, "actual", found.actual)
    if found.interleaving:
        yield from _labelled(width, "order", found.interleaving[0])
        yield from (f"  {'':{_LABEL}} {line}" for line in found.interleaving[1:])
    if found.schedule is not None:
        yield from _labelled(width, "schedule", str(found.schedule))


def _labelled(width: int, label: str, text: str) -> list[str]:
    lines = wrap(text, width - 2 - _LABEL, break_on_hyphens=False)
    return [
        f"  {label if number == 0 else '':{_LABEL}} {line}" for number, line in enumerate(lines)
    ]


def _alternatives(found: Counterexample) -> str:
    return " or ".join(found.expected) or "nothing in particular"


def _word(result: ClauseResult) -> str:
    return result.outcome.value.upper()
