"""Remove the values of options from a result: targets put them into their messages."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.masking import redact
from fscontract.contract.runner.result import (
    ClauseResult,
    Counterexample,
    Entry,
    NotSetUp,
    RunResult,
)


def redacted(entry: Entry, options: dict[str, str]) -> Entry:
    """Return the entry without the secrets among `options`."""
    if isinstance(entry, NotSetUp):
        return NotSetUp(entry.target, redact(entry.message, options))
    return redacted_result(entry, options)


def redacted_result(result: RunResult, options: dict[str, str]) -> RunResult:
    """Return the result without the secrets among `options`."""
    clauses = tuple(_clause(one, options) for one in result.clauses)
    warnings = tuple(redact(text, options) for text in result.warnings)
    incomplete = redact(result.incomplete, options)
    return replace(result, clauses=clauses, warnings=warnings, incomplete=incomplete)


def _clause(result: ClauseResult, options: dict[str, str]) -> ClauseResult:
    failures = tuple(_counterexample(failure, options) for failure in result.counterexamples)
    return replace(
        result,
        reason=redact(result.reason, options),
        counterexample=next(iter(failures), None),
        others=failures[1:],
    )


def _counterexample(example: Counterexample, options: dict[str, str]) -> Counterexample:
    lines = tuple(redact(line, options) for line in example.interleaving)
    outcomes = tuple(redact(line, options) for line in example.outcomes)
    return replace(
        example, actual=redact(example.actual, options), interleaving=lines, outcomes=outcomes
    )
