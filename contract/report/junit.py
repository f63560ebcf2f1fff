"""The report for CI servers: JUnit XML with one test case for each clause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timezone
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fscontract.contract.report.text import failure_block, out_of_time, short_block, summary_of
from fscontract.contract.runner.result import (
    FAILING,
    UNVERIFIED,
    ClauseResult,
    Entry,
    NotSetUp,
    RunResult,
    Verdict,
)
from fscontract.contract.text import printable


def render(entries: Sequence[Entry]) -> str:
    """Return a `testsuites` document with a suite for each target; ends with a newline."""
    root = Element("testsuites", name="fscontract")
    for entry in entries:
        root.append(_not_set_up(entry) if isinstance(entry, NotSetUp) else _suite(entry))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _not_set_up(entry: NotSetUp) -> Element:
    name = _text(entry.target)
    suite = Element("testsuite", name=name, tests="1", failures="0", errors="1", skipped="0")
    case = SubElement(suite, "testcase", classname="fscontract", name="set-up", time="0")
    _child(case, "error", "set-up", entry.message)
    return suite


def _suite(result: RunResult) -> Element:
    suite = Element(
        "testsuite",
        name=_text(result.target),
        tests=str(len(result.clauses)),
        timestamp=result.started.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S"),
        time=f"{result.seconds:.3f}",
    )
    for clause_result in result.clauses:
        suite.append(_case(clause_result, result.seed))
    if result.incomplete:
        suite.set("tests", str(len(result.clauses) + 1))
        case = SubElement(suite, "testcase", classname="fscontract", name="run", time="0")
        _child(case, "error", "incomplete", result.incomplete)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    notes = [*filter(None, [out_of_time(result)]), *result.warnings]
    if notes:
        SubElement(suite, "system-err").text = "\n".join(map(_text, notes))
    return suite


def _case(result: ClauseResult, seed: int) -> Element:
    clause = result.clause
    case = Element("testcase", classname=f"fscontract.{clause.document}", name=clause.id, time="0")
    properties = SubElement(case, "properties")
    for name, value in (
        ("clause", clause.id),
        ("level", clause.level.value),
        ("seed", str(seed)),
        ("verdict", result.outcome.value),
    ):
        SubElement(properties, "property", name=name, value=value)
    word = result.outcome.value
    if result.outcome in FAILING:
        _child(case, "failure", word, summary_of(result), "\n".join(failure_block(result)))
    elif result.outcome is Verdict.ERROR:
        _child(case, "error", word, result.reason)
    elif result.outcome in (Verdict.KNOWN, Verdict.INHERITED) or result.outcome in UNVERIFIED:
        _child(case, "skipped", word, f"{word}: {result.reason}")
    elif result.outcome is Verdict.LAX:
        SubElement(case, "system-out").text = _text("\n".join(short_block(result)))
    return case


def _child(case: Element, tag: str, kind: str, message: str, text: str = "") -> None:
    SubElement(case, tag, type=kind, message=_text(message)).text = _text(text) or None


def _text(text: str) -> str:
    return printable(text)
