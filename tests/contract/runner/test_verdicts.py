"""One function gives a clause its outcome, for streams and for the parts of a pipeline."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product

import pytest

from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.result import FAILING, VIOLATED, Counterexample, Verdict
from fscontract.contract.runner.verdicts import Seen, outcome_of
from fscontract.contract.spec.clauses import Clause, Level, clauses, select
from fscontract.contract.spec.known_failures import Known
from fscontract.fakes.mutants.registry import mutants
from tests.pipeline_checks import check_pipeline

TODAY = date(2027, 1, 1)
HOW = "seek: returned"
SHOWN_SO = Counterexample(None, ("raises EOF",), "returned", how=HOW)
ENTRY = Known("demo.one", "as ever", HOW, "STORE-12")
OTHER = Known("demo.one", "as ever", "seek: OTHER", "STORE-13")
SELDOM = Known("demo.one", "seldom", "seek: OTHER", intermittent=True)
EXPIRED = Known("demo.one", "for now", HOW, until=date(2026, 1, 1))
PEEKS = replace(OTHER, program=Program(0, (Step("close"), Step("py_peek", (0,)))))
UNREACHED = Verdict.UNEXERCISED, "no program reached it"


def _clause(level: Level) -> Clause:
    return Clause("demo.one", level, "", "", "demo")


@pytest.mark.parametrize(
    ("level", "seen", "listed", "outcome", "reason"),
    [
        (Level.MUST, Seen(3), (), Verdict.PASS, ""),
        (Level.MUST, Seen(3), (ENTRY,), Verdict.FIXED, "as ever"),
        (Level.MUST, Seen(3), (SELDOM,), Verdict.PASS, ""),
        (Level.MUST, Seen(3), (PEEKS,), Verdict.FIXED, "as ever"),
        (Level.MUST, Seen(3, unsaid=frozenset({"py_peek(0)"})), (PEEKS,), Verdict.PASS, ""),
        (Level.MUST, Seen(3, unsaid=frozenset({"py_peek(1)"})), (PEEKS,), Verdict.FIXED, "as ever"),
        (Level.MUST, Seen(3, lost="interrupted"), (ENTRY,), Verdict.ERROR, "interrupted"),
        (Level.MUST, Seen(unverified=UNREACHED), (ENTRY,), Verdict.UNEXERCISED, "no program"),
        (Level.MUST, Seen(3, failed=(SHOWN_SO,)), (), Verdict.FAIL, ""),
        (Level.MAY, Seen(3, failed=(SHOWN_SO,)), (), Verdict.LAX, ""),
        (Level.UNSPECIFIED, Seen(3, failed=(SHOWN_SO,)), (), Verdict.FAIL, ""),
        (Level.MUST, Seen(3, failed=(SHOWN_SO,)), (ENTRY,), Verdict.KNOWN, "as ever"),
        (Level.MUST, Seen(3, failed=(SHOWN_SO,)), (OTHER,), Verdict.FAIL, ""),
        (Level.MUST, Seen(3, failed=(SHOWN_SO,)), (EXPIRED,), Verdict.FAIL, ""),
        (Level.MUST, Seen(3, failed=(SHOWN_SO,), lost="gone"), (), Verdict.FAIL, ""),
        (Level.SHOULD, Seen(3, failed=(SHOWN_SO,)), (), Verdict.LAX, ""),
        (Level.SHOULD, Seen(3, failed=(SHOWN_SO,)), (ENTRY,), Verdict.LAX, "as ever"),
        (Level.SHOULD, Seen(3, missed=(SHOWN_SO,)), (ENTRY,), Verdict.LAX, "as ever"),
        (Level.SHOULD, Seen(3, missed=(SHOWN_SO,)), (OTHER,), Verdict.FIXED, "as ever"),
        (Level.SHOULD, Seen(3, missed=(SHOWN_SO,)), (SELDOM,), Verdict.LAX, ""),
        (Level.SHOULD, Seen(3, missed=(SHOWN_SO,)), (EXPIRED,), Verdict.LAX, ""),
        (Level.SHOULD, Seen(3, hung=(SHOWN_SO,)), (), Verdict.HANG, ""),
        (Level.SHOULD, Seen(3, hung=(SHOWN_SO,)), (ENTRY,), Verdict.KNOWN, "as ever"),
        (
            Level.MUST,
            Seen(crashed=(SHOWN_SO,), hung=(SHOWN_SO,), failed=(SHOWN_SO,)),
            (),
            "crash",
            "",
        ),
        (Level.MUST, Seen(failed=(SHOWN_SO,), unverified=UNREACHED), (), Verdict.FAIL, ""),
    ],
)
def test_a_clause_gets_the_outcome_of_the_worst_that_was_seen(
    level: Level, seen: Seen, listed: tuple[Known, ...], outcome: Verdict, reason: str
) -> None:
    result = outcome_of(_clause(level), seen, listed, TODAY)
    assert result.outcome == outcome
    assert result.reason.startswith(reason) or reason in result.reason
    assert bool(result.reason) == bool(reason)


@pytest.mark.parametrize(
    ("level", "failed", "listed"),
    list(product(Level, ((), (SHOWN_SO,)), ((), (ENTRY,), (OTHER,), (SELDOM,), (EXPIRED,)))),
)
def test_a_failure_is_kept_whatever_entries_say(
    level: Level, failed: tuple[Counterexample, ...], listed: tuple[Known, ...]
) -> None:
    result = outcome_of(_clause(level), Seen(3, failed=failed), listed, TODAY)
    assert len(result.counterexamples) == len(failed)
    assert (result.outcome in FAILING | VIOLATED) == (result.outcome in FAILING)
    if result.issue:
        assert result.issue in {entry.issue for entry in listed}


def _missing(document: str) -> tuple[str, PipelineBinding]:
    should = (m for m in mutants(document) if clauses()[m.clause].level is Level.SHOULD)
    mutant = next(should)
    return mutant.clause, mutant.binding()


PARTS = {name: _missing(name) for name in ("splitter", "blockreader", "metadata-table")}


@pytest.mark.parametrize("api", PARTS)
def test_a_known_should_that_a_part_misses_keeps_reason_and_issue(api: str) -> None:
    clause, binding = PARTS[api]
    (unlisted,) = check_pipeline(binding, select([clause])).clauses
    assert unlisted.outcome is Verdict.LAX
    assert unlisted.counterexample is not None
    signatures = [failure.signature for failure in unlisted.counterexamples]
    known = [Known(clause, "not needed here", signature, "PART-7") for signature in signatures]
    (found,) = check_pipeline(binding, select([clause]), known).clauses
    assert found.outcome is Verdict.LAX
    assert (found.reason, found.issue) == ("not needed here", "PART-7")
