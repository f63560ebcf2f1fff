"""The documents of clauses are well formed and complete."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fscontract.contract.program.arguments import resolve
from fscontract.contract.spec.clauses import Clause, Example, Level, clauses, documents
from fscontract.contract.spec.profiles import features
from fscontract.contract.untrusted import parse_yaml

SPECS = Path(str(files("fscontract.specs")))
#: What is not a document of clauses.
TABLES = ("features", "openfile-options", "renames")
FILES = sorted(p for p in SPECS.glob("*.yaml") if p.stem not in TABLES)
#: What a stream must have for an operation to do what the model says.
FEATURE_OF = {
    "seek": "supports-seek",
    "skip": "supports-skip",
    "available": "supports-available",
    "pread": "supports-positioned-readable",
    "read_fully": "supports-positioned-readable",
    "read_fully_all": "supports-positioned-readable",
    "read_vectored": "supports-vectored-io",
    "read_buffer": "supports-bytebuffer-read",
    "pread_buffer": "supports-bytebuffer-pread",
    "read_fully_buffer": "supports-bytebuffer-pread",
}
#: The rows of the first inventory of the document, by group; ids are never dropped or reused.
ROWS = {
    "model": "finite length-fixed content-fixed present seek-in-range seek-cheap not-thread-safe"
    " pread-thread-safe len-eq-status",
    "open": "state",
    "close": "idempotent robust no-raise state",
    "getpos": "open closed value",
    "read-byte": "closed open no-deadline value advance eof eof-state",
    "read-into": "open null len-neg offset offset-neg space pos-neg exceptions zero eof count data"
    " rest-untouched advance short-ok at-least-one progress",
    "seek": "supported open closed-lax zero negative past-eof at-len lax-eof fail-pos pos noop"
    " noop-bypass lazy lazy-validate lazy-state lazy-surface",
    "new-source": "unsupported-raise unsupported-false open moved same-data none",
    "unbuffer": "declare undeclared declared-only concurrent closed default release reacquire pos",
    "pread": "equiv concurrency-optional isolation serializable concurrent buffers not-atomic"
    " needs-seek pos-unchanged fail-buffer neg-pos space len-neg off-neg null count data eof zero"
    " ioe-buffer",
    "read-fully": "neg-pos len-neg off-neg space eof exact data ioe-buffer short-buffer whole",
    "consistency": "snapshot visible partial undefined either repeat delete",
}


def _load(path: Path) -> Any:
    return parse_yaml(path.read_text(encoding="utf-8"))


def _everything() -> list[Clause]:
    return list(clauses().values())


def _examples() -> list[tuple[Clause, Example]]:
    return [(c, e) for c in _everything() for e in c.examples]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    """The schema of documents."""
    return Draft202012Validator(json.loads((SPECS / "schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["schema.json", "profile.schema.json"])
def test_a_schema_is_a_schema(name: str) -> None:
    """The schemas keep to the JSON Schema dialect that they name."""
    Draft202012Validator.check_schema(json.loads((SPECS / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_document_keeps_to_the_schema(path: Path, schema: Draft202012Validator) -> None:
    """No unknown key, checks or untestable but not both, a reason with every check."""
    faults = [f"{e.json_path}: {e.message}" for e in schema.iter_errors(_load(path))]
    assert faults == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_document_is_named_after_its_file(path: Path) -> None:
    """The stem of the file is what selects the document."""
    assert _load(path)["document"] == path.stem


def test_no_id_occurs_twice_in_all_documents() -> None:
    """Loading keeps every entry, in file order, so none hides another."""
    order = [*documents()]
    written = [c["id"] for name in order for c in _load(SPECS / f"{name}.yaml")["clauses"]]
    assert [*clauses()] == written


def test_every_row_of_the_inventory_is_there() -> None:
    """The 109 statements found in the source document all have their clause."""
    rows = {f"{group}.{name}" for group, names in ROWS.items() for name in names.split()}
    own = {c.id for c in _everything() if c.document == "fsdatainputstream"}
    assert len(rows) == 109
    assert rows - own == set()


def test_what_the_source_document_lacks_says_where_it_comes_from() -> None:
    """A clause outside the inventory has an origin, one inside has none."""
    rows = {f"{group}.{name}" for group, names in ROWS.items() for name in names.split()}
    found = [c for c in _everything() if c.document == "fsdatainputstream"]
    assert [c.id for c in found if (c.id in rows) == bool(c.origin)] == []


def test_needs_are_known_features() -> None:
    """A misspelt feature would leave its clause undeclared for ever."""
    needed = {n.removeprefix("!") for c in _everything() for n in c.needs}
    assert needed - set(features()) == set()


def test_unspecified_clauses_are_never_checked() -> None:
    """What the text leaves open can't be violated."""
    assert [c.id for c in _everything() if c.level is Level.UNSPECIFIED and c.testable] == []


def test_untestable_reasons_name_only_clauses_that_exist() -> None:
    """A pointer such as 'restated by seek.pos' leads somewhere."""
    groups = {c.id.split(".")[0] for c in _everything()}
    words = [w.strip(",;.") for c in _everything() for w in c.untestable.split()]
    pointers = {w for w in words if "." in w and w.split(".")[0] in groups}
    assert pointers
    assert pointers - set(clauses()) == set()


def test_many_clauses_have_an_example() -> None:
    """Every group of testable clauses but the concurrent and changing ones shows a program."""
    shown = {c.id for c in _everything() if c.examples and c.document == "fsdatainputstream"}
    groups = {c.id.split(".")[0] for c in _everything() if c.document == "fsdatainputstream"}
    assert len(shown) >= 45
    assert groups - {i.split(".")[0] for i in shown} == {"model", "consistency"}


def test_examples_need_no_feature_that_their_clause_does_not() -> None:
    """A profile that lacks the feature must not fail the clause by its example."""
    asking = [
        (clause.id, str(step))
        for clause, example in _examples()
        for step in example.program.steps
        if (feature := FEATURE_OF.get(step.op)) and not {feature, f"!{feature}"} & {*clause.needs}
    ]
    assert asking == []


def test_costs_need_no_feature_that_their_clause_does_not() -> None:
    """A call that is not there, or holds on to what it may, would be charged to the clause."""
    needed = {**FEATURE_OF, "unbuffer": "supports-unbuffer"}
    asking = [
        (clause.id, str(step))
        for clause in _everything()
        if (cost := clause.cost) is not None
        for step in ((cost.before or ()) + cost.steps)
        if step.op in needed and needed[step.op] not in clause.needs
    ]
    assert asking == []


def test_expected_data_lies_in_the_examples_file() -> None:
    """Bytes that are not there can't be delivered."""
    outside = [
        (clause.id, entry)
        for clause, example in _examples()
        for entry in example.expect
        if not _inside(entry, example.program.length)
    ]
    assert outside == []


def _inside(entry: dict[str, Any], length: int) -> bool:
    if "byte_at" not in entry and "data_at" not in entry:
        return True
    start = resolve(entry.get("byte_at", entry.get("data_at")), length, 4096)
    return bool(0 <= start <= length - entry.get("count", 1))
