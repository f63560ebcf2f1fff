"""Phrases, counts and blocks of text that reports share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import shorten, wrap

from fscontract.contract.runner.result import (
    FAILING,
    Cause,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.signature import words
from fscontract.contract.runner.tracebacks import IN_STANDARD
from fscontract.contract.spec.clauses import Consequence, Level
from fscontract.contract.text import plural, printable


def table(result: RunResult) -> list[list[str]]:
    """Return counts of clauses by level and outcome; first row is the heading, last the sum."""
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


def out_of_time(result: RunResult) -> str:
    """Say what a run left out because its time was over; "" if nothing."""
    shares = ", ".join(map(str, result.cut_short))
    return f"out of time: programs run: {shares}" if shares else ""


def observed(result: RunResult) -> str:
    """List what a run observed of the features that the profile leaves open; "" if nothing."""
    return ", ".join(f"{name}={'yes' if has else 'no'}" for name, has in result.observed.items())


_WIDTH = 98
_LABEL = 10
#: The failures of a clause that a report shows, and the other clauses of a cause.
_MAX_SHOWN = 3
_MAX_ALSO = 9
#: What a call that hangs does to users, whatever its result should be.
_WAITS = "The call does not return: the job that makes it waits until it is killed."


def cause_block(cause: Cause, width: int = _WIDTH, tracebacks: bool = False) -> list[str]:
    """Return the details of the clause that shows a cause best, and a line for each other one."""
    block = short_block if cause.clause.outcome is Verdict.LAX else failure_block
    lines = block(cause.clause, width, tracebacks)
    for number, other in enumerate(cause.others[:_MAX_ALSO]):
        lax = " (lax)" if other.outcome is Verdict.LAX else ""
        text = f"{other.clause.id}{lax}: {summary_of(other)}"
        text = shorten(text, width - 3 - _LABEL, placeholder=" ...")
        lines.append(f"  {'' if number else 'also':{_LABEL}} {text}")
    left_out = len(cause.others) - _MAX_ALSO
    if left_out > 0:
        lines.append(f"  {'':{_LABEL}} {plural(left_out, 'clause')} more in the JSON report")
    return lines


def failure_block(result: ClauseResult, width: int = _WIDTH, tracebacks: bool = False) -> list[str]:
    """Return the details of a failed clause: statement, program, outcomes, commands."""
    clause = result.clause
    lines = [f"{_word(result)}  {clause.id}  {clause.level}  {clause.citation}"]
    lines += [f"  {line}" for line in wrap(clause.statement, width - 2)]
    if result.outcome is Verdict.FIXED:
        lines += _labelled(width, "actual", "passes, but is listed as known: take the entry out")
        lines += _labelled(width, "reason", result.reason)
    elif result.counterexample is not None:
        lines += _counterexample(result.counterexample, width, tracebacks)
    else:
        lines += _labelled(width, "reason", result.reason)
    if result.counterexample is not None:
        lines += _again(result.counterexample)
    for number, other in enumerate(result.counterexamples[1:_MAX_SHOWN], 2):
        lines += [f"  failure {number}", *_other_failure(other, width, tracebacks)]
    lines += _labelled(width, "more", more(result))
    lines += _labelled(width, "because", because(result))
    lines += _labelled(width, "explain", f"fscontract explain {clause.id}")
    return [printable(line) for line in lines]


def more(result: ClauseResult) -> str:
    """Return the number of failures of a clause that a report omits, as text; "" if none."""
    left_out = len(result.counterexamples) - _MAX_SHOWN
    return "" if left_out <= 0 else f"{plural(left_out, 'failure')} in the JSON report"


def because(result: ClauseResult) -> str:
    """Return what the failure that a report shows first does to users."""
    example = result.counterexample
    if example is not None and example.hangs:
        return _WAITS
    return result.clause.because_of(() if example is None else words(example.signature))


def short_block(result: ClauseResult, width: int = _WIDTH, tracebacks: bool = False) -> list[str]:
    """Return a SHOULD that is missed, without the reasons."""
    clause, example = result.clause, result.counterexample
    lines = [f"{_word(result)}  {clause.id}  {clause.level}  {clause.citation}"]
    lines += [f"  {line}" for line in wrap(clause.statement, width - 2)]
    if example is not None:
        lines += _labelled(width, "program", str(example.program) if example.program else "")
        lines += _labelled(width, "calls", example.calls)
        lines += _labelled(width, "expected", _alternatives(example))
        lines += _labelled(width, "actual", example.actual)
        lines += _labelled(width, "differs", example.difference)
        lines += _traceback(example) if tracebacks else []
        lines += _again(example)
    lines += _labelled(width, "explain", f"fscontract explain {clause.id}")
    return [printable(line) for line in lines]


def failed_by_consequence(result: RunResult, width: int = _WIDTH) -> Iterator[str]:
    """Yield the ids of the failing clauses, a line or more for each consequence."""
    failing = worst_first(r for r in result.clauses if r.outcome in FAILING)
    for consequence, group in groupby(failing, key=lambda r: r.consequence):
        ids = " ".join(r.clause.id for r in group)
        text = f"{consequence.value}: {ids}"
        yield from wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def worst_first(results: Iterable[ClauseResult]) -> list[ClauseResult]:
    """Return results sorted by what their failures do to users, the worst first."""
    order = list(Consequence)
    return sorted(results, key=lambda result: order.index(result.consequence))


def found_line(clause: str, failure: Counterexample) -> str:
    """Return a violation in a line, for the output during a run."""
    program = "" if failure.program is None else f"{failure.program}: "
    return printable(f"found {clause}: {program}{failure.actual}")


def known_line(result: ClauseResult) -> str:
    """Return a known failure as a line."""
    reasons = dict.fromkeys(" ".join(f.known.split()) for f in result.counterexamples if f.known)
    text = "; ".join(reasons) or " ".join(result.reason.split())
    return printable(f"{_word(result)}  {result.clause.id}  {text}")


def summary_of(result: ClauseResult) -> str:
    """Return the outcome as one line without the clause's name, for lists and attributes."""
    example = result.counterexample
    if result.outcome is Verdict.FIXED or example is None:
        text = result.reason
    else:
        text = f"{example.actual}, expected {_alternatives(example)}"
    return printable(" ".join(text.split())) or result.outcome.value


def _other_failure(example: Counterexample, width: int, tracebacks: bool) -> Iterator[str]:
    yield from _counterexample(example, width, tracebacks)
    yield from _labelled(width, "known", " ".join(example.known.split()))
    yield from _again(example)


def _again(example: Counterexample) -> Iterator[str]:
    if example.replay_command:
        yield f"  {'again':{_LABEL}} {example.replay_command}"  # one line, so that it can be copied


def _traceback(example: Counterexample) -> Iterator[str]:
    for number, line in enumerate(example.traceback):
        yield f"  {'' if number else 'traceback':{_LABEL}} {line.rstrip()}"


def _counterexample(example: Counterexample, width: int, tracebacks: bool = False) -> Iterator[str]:
    if example.program is not None:
        for number, earlier in enumerate(example.before):
            yield from _labelled(width, "" if number else "before", str(earlier))
        yield from _labelled(width, "program", str(example.program))
        yield from _labelled(width, "runs", "fails in some of them only" * example.intermittent)
        yield from _labelled(width, "calls", example.calls)
        if 0 < example.step <= len(example.program.steps) and len(example.program.steps) > 1:
            yield from _labelled(
                width, "at step", f"{example.step}: {example.program.steps[example.step - 1]}"
            )
    yield from _labelled(width, "expected", _alternatives(example))
    yield from _labelled(width, "actual", example.actual)
    yield from _labelled(width, "differs", example.difference)
    if example.hangs and not tracebacks:
        frames = [line for line in example.traceback if line.startswith("File ")]
        own = [line for line in frames if not line.startswith(IN_STANDARD)] or frames
        yield from _labelled(width, "hangs in", "".join(own[-1:]))
    yield from _traceback(example) if tracebacks else ()
    if example.interleaving:
        yield from _labelled(width, "order", example.interleaving[0])
        yield from (f"  {'':{_LABEL}} {line}" for line in example.interleaving[1:])
    if example.schedule is not None:
        yield from _labelled(width, "schedule", str(example.schedule))


def _labelled(width: int, label: str, text: str) -> list[str]:
    lines = wrap(text, width - 2 - _LABEL, break_on_hyphens=False)
    return [
        f"  {label if number == 0 else '':{_LABEL}} {line}" for number, line in enumerate(lines)
    ]


def _alternatives(example: Counterexample) -> str:
    return " or ".join(example.expected) or "nothing in particular"


def _word(result: ClauseResult) -> str:
    return result.outcome.value.upper()
