"""Remove the values of options from a result: targets put them into their messages."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.masking import redact
from fscontract.contract.runner.result import ClauseResult, Counterexample, Entry, NotSetUp


def redacted(entry: Entry, options: dict[str, str]) -> Entry:
    """Return the entry without the secrets among `options`."""
    if isinstance(entry, NotSetUp):
        return NotSetUp(entry.target, redact(entry.message, options))
    clauses = tuple(_clause(result, options) for result in entry.clauses)
    warnings = tuple(redact(text, options) for text in entry.warnings)
    incomplete = redact(entry.incomplete, options)
    return replace(entry, clauses=clauses, warnings=warnings, incomplete=incomplete)


def _clause(result: ClauseResult, options: dict[str, str]) -> ClauseResult:
    example = result.counterexample
    reason = redact(result.reason, options)
    return replace(
        result, reason=reason, counterexample=example and _counterexample(example, options)
    )


def _counterexample(example: Counterexample, options: dict[str, str]) -> Counterexample:
    lines = tuple(redact(line, options) for line in example.interleaving)
    outcomes = tuple(redact(line, options) for line in example.outcomes)
    return replace(
        example, actual=redact(example.actual, options), interleaving=lines, outcomes=outcomes
    )
