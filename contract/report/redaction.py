"""Reports without what the user gave as options: targets put such values into their messages."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.masking import redact
from fscontract.contract.runner.result import ClauseResult, Counterexample, Entry, NotSetUp


def redacted(entry: Entry, options: dict[str, str]) -> Entry:
    """The entry without values of options in what the target said."""
    if isinstance(entry, NotSetUp):
        return NotSetUp(entry.target, redact(entry.message, options))
    clauses = tuple(_clause(found, options) for found in entry.clauses)
    warnings = tuple(redact(text, options) for text in entry.warnings)
    incomplete = redact(entry.incomplete, options)
    return replace(entry, clauses=clauses, warnings=warnings, incomplete=incomplete)


def _clause(found: ClauseResult, options: dict[str, str]) -> ClauseResult:
    shown = found.counterexample
    reason = redact(found.reason, options)
    return replace(found, reason=reason, counterexample=shown and _shown(shown, options))


def _shown(shown: Counterexample, options: dict[str, str]) -> Counterexample:
    lines = tuple(redact(line, options) for line in shown.interleaving)
    done = tuple(redact(line, options) for line in shown.outcomes)
    return replace(shown, actual=redact(shown.actual, options), interleaving=lines, outcomes=done)
