"""The JSON report and its schema."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from fscontract.contract.program.program import Program
from fscontract.contract.report.json import render
from fscontract.contract.runner.result import ClauseResult, NotSetUp, RunResult, Verdict

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]


def _validator() -> Draft202012Validator:
    text = files("fscontract.specs").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _all(make_result: Make) -> list[ClauseResult]:
    return [make_result(v, name=f"demo.{v.value}", reason="why", replay="r.json") for v in Verdict]


def test_a_report_of_every_outcome_fits_the_schema(make_result: Make, make_run: MakeRun) -> None:
    """One object, with every clause and the count of every outcome."""
    data = json.loads(render([make_run(*_all(make_result))]))
    _validator().validate(data)
    assert data["summary"] == {v.value: 1 for v in Verdict}
    assert [c["outcome"] for c in data["clauses"]] == [v.value for v in Verdict]
    assert data["started"] == "2026-05-04T03:02:01Z"
    assert data["conforms"] is False


def test_a_concurrent_counterexample_fits_the_schema(make_result: Make, make_run: MakeRun) -> None:
    """Interleaving and schedule are kept, and there need not be a program."""
    failed = make_result(Verdict.FAIL, program=None, interleaving=("1 A", "2 B"), schedule=4)
    data = make_run(failed).to_dict()
    _validator().validate(data)
    assert data["clauses"][0]["counterexample"]["interleaving"] == ["1 A", "2 B"]
    assert data["clauses"][0]["counterexample"]["program"] is None


def test_traceback_difference_and_calls_fit_the_schema(
    make_result: Make, make_run: MakeRun
) -> None:
    """They are kept; a failure without them has no such keys."""
    failed = make_result(Verdict.FAIL, traceback=("KeyError: 1",), difference="b", calls="c")
    data = make_run(failed, make_result(Verdict.FAIL, name="demo.two")).to_dict()
    _validator().validate(data)
    first, second = (clause["counterexample"] for clause in data["clauses"])
    assert (first["traceback"], first["difference"], first["calls"]) == (["KeyError: 1"], "b", "c")
    assert not {"traceback", "difference", "calls"} & second.keys()


def test_where_a_known_failure_is_described_gets_into_the_report(
    make_result: Make, make_run: MakeRun
) -> None:
    """As its entry says, beside the reason; how it fails is there as well."""
    known = replace(make_result(Verdict.KNOWN, reason="as ever"), issue="STORE-12")
    data = make_run(known).to_dict()
    _validator().validate(data)
    (found,) = data["clauses"]
    assert (found["reason"], found["issue"]) == ("as ever", "STORE-12")
    assert found["counterexample"]["signature"] == "returned"


def test_the_program_can_be_read_back(make_result: Make, make_run: MakeRun) -> None:
    """A counterexample's program is the one that ran."""
    result = make_result(Verdict.FAIL)
    found = make_run(result).to_dict()["clauses"][0]["counterexample"]
    assert result.counterexample is not None
    assert Program.from_json(found["program"]) == result.counterexample.program
    assert found["expected"] == ["EOF", "IO"]


def test_a_passed_clause_has_no_counterexample(make_result: Make, make_run: MakeRun) -> None:
    """Null, so that the key is always there."""
    assert make_run(make_result()).to_dict()["clauses"] == [
        {"id": "demo.one", "level": "MUST", "outcome": "pass", "exercised": 3}
        | {"consequence": "error", "counterexample": None}
    ]


def test_what_was_not_verified_is_listed_with_its_reason(
    make_result: Make, make_run: MakeRun
) -> None:
    """A run that conforms still says on what it gave no verdict."""
    data = make_run(make_result(), make_result(Verdict.UNDECLARED, "d", reason="skip")).to_dict()
    assert data["conforms"] is True
    assert data["unverified"] == [{"outcome": "undeclared", "reason": "skip", "clauses": ["d"]}]


def test_several_targets_make_a_list(make_result: Make, make_run: MakeRun) -> None:
    """In the order in which they were given; one that was not set up says why."""
    data = json.loads(render([make_run(make_result()), NotSetUp("s3://b", "no way in")]))
    _validator().validate(data)
    assert [d["target"] for d in data] == ["memory", "s3://b"]
    assert data[1]["error"] == "no way in"
    assert data[1]["conforms"] is False


def test_what_drives_a_terminal_or_turns_text_around_is_escaped(
    make_result: Make, make_run: MakeRun
) -> None:
    """In JSON's own way, so that a reader gets what the target said."""
    hidden = " ".join(chr(c) for c in range(sys.maxunicode + 1) if not _may_show(chr(c)))
    said = f"{hidden} שם é 😀"
    text = render([make_run(make_result(Verdict.FAIL, actual=said), target=said)])
    assert all(c == "\n" or _may_show(c) for c in text)
    assert "\\u202e" in text
    assert "שם é 😀" in text
    data = json.loads(text)
    shown = data["clauses"][0]["counterexample"]["actual"]
    assert (data["target"] == said, shown == said) == (True, True)  # what differs can't be printed


def _may_show(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


@pytest.mark.parametrize(
    "change",
    [{"conforms": "yes"}, {"started": "2026-05-04"}, {"effort": "huge"}, {"more": 1}],
)
def test_the_schema_refuses_other_shapes(
    change: dict[str, Any], make_result: Make, make_run: MakeRun
) -> None:
    """It is strict, so the tests above mean something."""
    with pytest.raises(ValidationError):
        _validator().validate(make_run(make_result()).to_dict() | change)
