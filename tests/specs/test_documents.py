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
TABLES = ("bases", "features", "openfile-options", "renames")
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
    """Return the schema of documents."""
    return Draft202012Validator(json.loads((SPECS / "schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["schema.json", "profile.schema.json"])
def test_schema_is_valid_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(json.loads((SPECS / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_document_is_valid_against_the_schema(path: Path, schema: Draft202012Validator) -> None:
    faults = [f"{e.json_path}: {e.message}" for e in schema.iter_errors(_load(path))]
    assert faults == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_document_is_named_after_its_file(path: Path) -> None:
    """The stem of the file selects the document."""
    assert _load(path)["document"] == path.stem


def test_no_clause_about_data_is_judged_by_a_counter() -> None:
    """Wrong bytes show in the bytes; counters judge costs, and what the counters claim."""
    counted = [c for c in clauses().values() if any(k.startswith("cost.") for k in c.checks)]
    assert {c.consequence.value for c in counted} == {"cost", "claim", "leak"}


def test_clause_ids_are_unique_over_all_documents() -> None:
    order = [*documents()]
    written = [c["id"] for name in order for c in _load(SPECS / f"{name}.yaml")["clauses"]]
    assert [*clauses()] == written


def test_all_109_statements_of_the_source_document_have_a_clause() -> None:
    rows = {f"{group}.{name}" for group, names in ROWS.items() for name in names.split()}
    own = {c.id for c in _everything() if c.document == "fsdatainputstream"}
    assert len(rows) == 109
    assert rows - own == set()


def test_clause_has_an_origin_if_it_is_not_in_the_source_document() -> None:
    rows = {f"{group}.{name}" for group, names in ROWS.items() for name in names.split()}
    found = [c for c in _everything() if c.document == "fsdatainputstream"]
    assert [c.id for c in found if (c.id in rows) == bool(c.origin)] == []


def test_needs_of_clauses_are_known_features() -> None:
    """A misspelt feature would leave its clause undeclared in every run."""
    needed = {n.removeprefix("!") for c in _everything() for n in c.needs}
    assert needed - set(features()) == set()


def test_unspecified_clauses_have_no_checks() -> None:
    assert [c.id for c in _everything() if c.level is Level.UNSPECIFIED and c.testable] == []


def test_clauses_named_by_untestable_reasons_exist() -> None:
    groups = {c.id.split(".")[0] for c in _everything()}
    words = [w.strip(",;.") for c in _everything() for w in c.untestable.split()]
    pointers = {w for w in words if "." in w and w.split(".")[0] in groups}
    assert pointers
    assert pointers - set(clauses()) == set()


def test_every_group_has_an_example_except_model_and_consistency() -> None:
    shown = {c.id for c in _everything() if c.examples and c.document == "fsdatainputstream"}
    groups = {c.id.split(".")[0] for c in _everything() if c.document == "fsdatainputstream"}
    assert len(shown) >= 45
    assert groups - {i.split(".")[0] for i in shown} == {"model", "consistency"}


def test_examples_use_only_features_that_their_clause_needs() -> None:
    """A profile without the feature must not fail the clause by its example."""
    asking = [
        (clause.id, str(step))
        for clause, example in _examples()
        for step in example.program.steps
        if (feature := FEATURE_OF.get(step.op)) and not {feature, f"!{feature}"} & {*clause.needs}
    ]
    assert asking == []


def test_costs_use_only_features_that_their_clause_needs() -> None:
    needed = {**FEATURE_OF, "unbuffer": "supports-unbuffer"}
    asking = [
        (clause.id, str(step))
        for clause in _everything()
        if (cost := clause.cost) is not None
        for step in ((cost.before or ()) + cost.steps)
        if step.op in needed and needed[step.op] not in clause.needs
    ]
    assert asking == []


def test_expected_data_of_examples_is_inside_their_file() -> None:
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
