"""One clause's outcome as lines of plain text: what was called, expected and observed."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from fscontract.contract.suite.report.text import place, printable
from fscontract.contract.suite.result import ClauseResult, Counterexample, Verdict

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
