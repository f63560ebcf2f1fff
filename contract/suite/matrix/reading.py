"""JSON reports of others, which are not trusted: what does not fit the schema is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fscontract import __version__
from fscontract.contract.suite.matrix.table import Cell, Column
from fscontract.contract.suite.result import Verdict, conform
from fscontract.contract.untrusted import UntrustedError, load_json


class MatrixError(ValueError):
    """A report that can't be used: which file, and what is wrong, in one line."""


def read_reports(path: Path, label: str = "") -> list[Column]:
    """The targets of a JSON report, a column each; MatrixError if it is none.

    `label` is shown instead of the target's name, or before it if the report has several.
    """
    data = _load(path)
    _validate(data, path)
    entries = data if isinstance(data, list) else [data]
    columns = [_column(entry, path) for entry in entries]
    for column in columns:
        if label:
            column.label = f"{label}: {column.target}" if len(columns) > 1 else label
    return columns


def _load(path: Path) -> Any:
    try:
        return load_json(path)
    except UntrustedError as error:
        raise MatrixError(str(error)) from None


def _validate(data: Any, path: Path) -> None:
    """Refuse what the published schema refuses, and say what is wrong with the entry itself."""
    if _validator("").is_valid(data):
        return
    fault = next(_faults(data), "a list of one report, or of none")
    raise MatrixError(f"{path}: not a report of fscontract: {fault}{_newer(data)}")


def _faults(data: Any) -> Iterator[str]:
    for number, entry in enumerate(data if isinstance(data, list) else [data]):
        kind = "notSetUp" if isinstance(entry, dict) and "error" in entry else "run"
        for error in _validator(kind).iter_errors(entry):
            keys = [number, *error.absolute_path] if isinstance(data, list) else error.absolute_path
            place = "".join(f"[{k}]" if isinstance(k, int) else f".{_short(k)}" for k in keys)
            yield f"{place.removeprefix('.') or 'top level'}: {_short(str(error.message))}"


def _newer(data: Any) -> str:
    """A hint if another version wrote it."""
    entry = data[0] if isinstance(data, list) and data else data
    made = entry.get("fscontract") if isinstance(entry, dict) else None
    other = isinstance(made, str) and made != __version__
    return f" (written by {_short(str(made))}, this is {__version__})" if other else ""


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 160 else f"{plain[:100]} ... {plain[-50:]}"


@lru_cache(maxsize=3)
def _validator(kind: str) -> Any:
    """Of the whole schema, or of one of its definitions."""
    from jsonschema import Draft202012Validator

    text = files("fscontract.specs").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    if kind:
        schema = {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)


def _column(entry: Mapping[str, Any], path: Path) -> Column:
    common = {"label": entry["target"], "target": entry["target"], "source": str(path)}
    if "error" in entry:
        return Column(**common, version=entry["fscontract"], error=entry["error"])
    twice = [i for i, n in Counter(c["id"] for c in entry["clauses"]).items() if n > 1]
    if twice:
        raise MatrixError(f"{path}: not a report: {_short(twice[0])} is there twice")
    cells = {c["id"]: _cell(c) for c in entry["clauses"]}
    outcomes = {Verdict(c["outcome"]) for c in entry["clauses"]}
    if entry["conforms"] != conform(outcomes, entry.get("incomplete", "")):
        said = "true" if entry["conforms"] else "false"
        raise MatrixError(f"{path}: not a report: conforms is {said}, its clauses say otherwise")
    return Column(
        **common,
        version=entry["fscontract"],
        binding=entry["binding"],
        profile=entry["profile"],
        effort=entry["effort"],
        seed=entry["seed"],
        started=entry["started"],
        versions=entry["versions"],
        conforms=entry["conforms"],
        cells=cells,
        levels={c["id"]: c["level"] for c in entry["clauses"]},
    )


def _cell(clause: Mapping[str, Any]) -> Cell:
    shown = clause["counterexample"] or {}
    return Cell(
        Verdict(clause["outcome"]),
        shown.get("actual", ""),
        tuple(shown.get("expected", ())),
        clause.get("reason", ""),
        clause.get("issue", ""),
        shown.get("signature", ""),
    )
