"""The document on openFile() is complete, and its costs can be metered."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator

from fscontract.contract.api.iostatistics import METERS
from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.program.open_calls import METHODS, SCENES
from fscontract.contract.spec.clauses import Clause, Level, clauses
from fscontract.contract.untrusted import parse_yaml

SPECS = files("fscontract.specs")
#: The rows of the first inventory of the document, in its order; ids are never dropped or reused.
ROWS = """
status-null status-filename-only number-default deferred-state early-invariants buffer-size-method
status-shortcut status-nonnull status-name status-name-used status-name-unused status-name-when
status-hint status-own-class status-pinned status-path status-class status-located
status-ignore-foreign status-foreign-name status-fields status-belief option-methods must-unknown
must-unsupported opt-unknown opt-same-validation own-values standard-values build-checks-options
number-trim last-wins build-future build-validate async-validate late-validate build-guarantee
build-missing build-directory get-ioerror read-fails permission-delayed permission-later seek-silent
std-recognised std-support std-application std-mixed std-opt-unsupported std-opt-unrecognised
std-must-unsupported std-must-unrecognised std-prefix std-must-ok std-hint std-fatal
buffer-size-used buffer-size-supported policy-hint policy-ignorable policy-specific policy-unknown
policy-names policy-data policy-list policy-declare policy-vector policy-vector-random
policy-columnar policy-columnar-reads policy-text policy-fallback length-minimum length-negative
length-longer-file length-beyond length-status length-limit split-negative split-assume split-raise
split-plan split-reversed split-past-end split-hint length-over-split split-caller footer-hint
footer-default footer-override s3a-keys abfs-keys statistics must-everywhere opt-foreign third-party
job-options
"""
#: Where the document contradicts itself; G11 is about names in its examples alone.
CONTRADICTIONS = {f"G{number}" for number in range(1, 17)} - {"G11"}
#: A document with one clause on a cost, which the schema accepts.
COSTLY = """
schema: 1
document: demo
title: Demo
source: {name: Demo}
clauses:
  - id: demo.one
    level: MUST
    consequence: cost
    section: One
    statement: It costs nothing.
    checks: [cost.requests]
    because: It would be slow.
    examples:
      - {length: 1, open: {file: file, calls: []}, program: [[read_byte]], expect: [{byte_at: 0}]}
    cost: {length: 1, steps: [[read_byte]], meter: requests, at-most: {default: 0}}
"""


def _own() -> list[Clause]:
    return [c for c in clauses().values() if c.document == "openfile"]


def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(SPECS.joinpath("schema.json").read_text("utf-8"))
    return schema


def test_all_97_statements_of_the_source_document_have_a_clause_in_order() -> None:
    rows = [f"open.{name}" for name in ROWS.split()]
    assert len(rows) == 97
    assert [c.id for c in _own() if c.id in rows] == rows


def test_clause_has_an_origin_if_it_is_not_in_the_source_document() -> None:
    rows = {f"open.{name}" for name in ROWS.split()}
    assert [c.id for c in _own() if (c.id in rows) == bool(c.origin)] == []


def test_every_contradiction_of_the_source_has_a_reading() -> None:
    assert {ref for c in _own() for ref in c.refs if ref.startswith("G")} == CONTRADICTIONS
    named = [c for c in _own() if any(ref.startswith("G") for ref in c.refs)]
    assert [c.id for c in named if not c.reading] == []


def test_testable_clauses_need_the_openfile_feature() -> None:
    assert [c.id for c in _own() if c.testable == ("supports-openfile" not in c.needs)] == []


def test_clauses_of_other_documents_need_no_openfile_feature() -> None:
    others = [c for c in clauses().values() if c.document != "openfile"]
    assert [c.id for c in others if "supports-openfile" in c.needs or c.cost] == []
    assert [c.id for c in others for e in c.examples if e.program.opening] == []


def test_examples_open_an_existing_file_through_a_builder() -> None:
    opened = [(c.id, e.program.opening) for c in _own() for e in c.examples]
    assert len(opened) > 60
    assert [name for name, o in opened if o is None or o.scene not in ("file", "late")] == []


def test_examples_use_every_builder_method() -> None:
    openings = [e.program.opening for c in _own() for e in c.examples]
    assert {call[0] for opening in openings if opening for call in opening.calls} == set(METHODS)


def test_testable_clauses_without_example_and_cost_are_about_failures() -> None:
    """An example can't say that an open fails."""
    bare = {c.id.removeprefix("open.") for c in _own() if c.testable and not (c.examples or c.cost)}
    assert bare == {
        *(
            "status-name",
            "status-name-used",
            "status-name-when",
            "status-foreign-name",
        ),
        *("status-pinned", "must-unknown", "must-unsupported", "std-must-unrecognised"),
        *("build-checks-options", "option-null", "build-missing", "build-directory"),
        *("get-ioerror", "read-fails", "failure-stage", "foreign-path", "permission-delayed"),
    }


# Costs -----------------------------------------------------------------------------------------


def test_cost_uses_the_meter_that_its_check_names() -> None:
    costly = [c for c in _own() if c.cost is not None]
    assert len(costly) == 14
    assert [c.id for c in costly if c.cost and c.checks != (f"cost.{c.cost.meter}",)] == []
    assert {c.cost.meter for c in costly if c.cost} == set(METERS)


def test_budgets_are_keyed_by_read_policies() -> None:
    named = {policy for c in _own() if c.cost for policy in c.cost.budget}
    assert named - set(option_table().policies) == set()


def test_footer_cost_has_budgets_for_the_policies_that_cache_footers() -> None:
    cost = clauses()["open.footer-default"].cost
    keeping = {p.name for p in option_table().policies.values() if p.footer_cache}
    assert cost is not None
    assert set(cost.budget) == keeping


def test_cost_clauses_need_io_statistics_and_have_a_level() -> None:
    costly = [c for c in _own() if c.cost is not None]
    assert [c.id for c in costly if "supports-io-statistics" not in c.needs] == []
    assert [c.id for c in costly if c.level is Level.UNSPECIFIED] == []


# The schema ------------------------------------------------------------------------------------


def test_schema_has_the_scenes_and_meters_of_the_code() -> None:
    kinds = _schema()["$defs"]
    assert kinds["example"]["properties"]["open"]["properties"]["file"]["enum"] == [*SCENES]
    assert kinds["cost"]["properties"]["meter"]["enum"] == [*METERS]


def test_schema_accepts_an_opening_and_a_cost() -> None:
    """The documents below differ from this one by one error each."""
    assert list(Draft202012Validator(_schema()).iter_errors(parse_yaml(COSTLY))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("file: file", "file: socket"),
        ("file: file, calls: []", "file: file"),
        ("calls: []", "calls: [[]]"),
        ("calls: []", "calls: [[7]]"),
        ("calls: []", "calls: [], build: 2"),
        ("checks: [cost.requests]", "checks: [model.open]"),
        ("    cost: {", "    reading: {"),
        ("    cost: {", "    refs: [a]\n    costs: {"),
        ("meter: requests", "meter: seconds"),
        ("at-most: {default: 0}", "at-most: {}"),
        ("at-most: {default: 0}", "at-most: {default: -1}"),
        ("at-most: {default: 0}", "at-most: {Default: 0}"),
        (", at-most: {default: 0}", ""),
        ("at-most: {default: 0}", "at-most: {default: 0}, exactly: {default: 0}"),
        ("steps: [[read_byte]], ", ""),
        ("meter: requests", "meter: requests, repeat: 1"),
        ("meter: requests", "meter: requests, before: read_byte"),
    ],
)
def test_schema_rejects_an_invalid_opening_or_cost(old: str, new: str) -> None:
    assert COSTLY.count(old) == 1
    data = parse_yaml(COSTLY.replace(old, new))
    assert list(Draft202012Validator(_schema()).iter_errors(data)) != []


def test_schema_rejects_a_cost_check_without_a_cost() -> None:
    data = parse_yaml(COSTLY)
    del data["clauses"][0]["cost"]
    faults = list(Draft202012Validator(_schema()).iter_errors(data))
    assert [e.message for e in faults] == snapshot(["'cost' is a required property"])


def test_schema_rejects_a_cost_without_a_check() -> None:
    data = parse_yaml(COSTLY)
    clause = data["clauses"][0]
    del clause["checks"], clause["because"], clause["examples"], clause["consequence"]
    clause["untestable"] = "nothing to see"
    assert len(list(Draft202012Validator(_schema()).iter_errors(data))) == 1
