"""Exceptions injected at every call that leaves the kit: outcomes, or a TargetError, never ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.pipeline_bindings import BlockReaderBinding
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.sandbox import SandboxedBinding
from fscontract.contract.spec.clauses import clauses
from fscontract.pipeline.blockreader.binding import blockreader
from fscontract.pipeline.hudi.binding import metadata_table
from fscontract.pipeline.splitter.binding import splitter
from tests.contract.runner.conftest import binding_of, settings_for
from tests.pipeline_checks import check_pipeline


class Panic(BaseException):
    """As Rust's panics come through pyo3: no Exception."""


class Unprintable(Exception):
    """Can't be shown."""

    def __str__(self) -> str:
        raise Panic("do not look")

    __repr__ = __str__


ERRORS: dict[str, Callable[[], BaseException]] = {
    "RuntimeError": lambda: RuntimeError("boom"),
    "SystemExit": lambda: SystemExit(0),
    "Panic": lambda: Panic("boom"),
    "MemoryError": MemoryError,
    "RecursionError": lambda: RecursionError("maximum recursion depth exceeded"),
    "Unprintable": Unprintable,
}
#: What a run calls of a binding, and of its opener.
CALLS = {
    **dict.fromkeys(("prepare", "create", "bind"), "model.seek"),
    "open": "model.open",
    "dispose": "model.has_capability",
    "status_length": "status",
}
OPENER_CALLS = {
    **dict.fromkeys(("scenes", "statuses", "place", "appear", "ready"), "openfile."),
    **dict.fromkeys(("open_file", "call", "build", "get", "outcome"), "openfile."),
    "counters": "cost.",
}
TRAITS = (
    *("name", "api", "operations", "changes", "buffer", "injector", "opener"),
    *("default_profile", "remote", "fixed_content"),
)


class Raising:
    """Stands for an object; one attribute of it raises, or its call if it is a method."""

    def __init__(self, inner: Any, name: str, error: Callable[[], BaseException]) -> None:
        object.__setattr__(self, "_of", (inner, name, error))

    def __getattr__(self, name: str) -> Any:
        inner, bad, error = object.__getattribute__(self, "_of")
        if name != bad:
            return getattr(inner, name)
        if callable(getattr(type(inner), name, None)):
            return lambda *_, **__: _raise(error())
        raise error()

    def __setattr__(self, name: str, value: object) -> None:
        setattr(object.__getattribute__(self, "_of")[0], name, value)


def _raise(error: BaseException) -> NoReturn:
    raise error


def run(binding: Any, checks: str) -> RunResult | TargetError:
    """Return the result of a run of the clauses with such a check; only a TargetError may end
    it.
    """
    chosen = [c.id for c in clauses().values() if any(k.startswith(checks) for k in c.checks)]
    settings = settings_for(*chosen, stop_at_first=True)
    try:
        return check(binding, settings)
    except TargetError as error:
        return error


def is_told(ended: RunResult | TargetError, error: str) -> bool:
    """Return whether the report names the exception."""
    if isinstance(ended, TargetError):
        return error in str(ended)
    shown = [c.counterexample.actual for c in ended.clauses if c.counterexample]
    return any(
        error in text for text in (*shown, *ended.warnings, *(c.reason for c in ended.clauses))
    )


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_a_binding_that_raises_is_told_as_the_targets(name: str, error: str) -> None:
    """In a verdict, a warning, or a TargetError."""
    binding: Any = Raising(binding_of(), name, ERRORS[error])
    ended = run(binding, CALLS[name])
    assert is_told(ended, error)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("change", ("/f", b"")),
        ("create", (b"",)),
        ("leftovers", ()),
        ("discard", ("/f",)),
        ("prepare", ()),
        ("dispose", ()),
    ],
)
def test_a_call_that_no_clause_judges_raises_a_target_error(
    name: str, args: tuple[Any, ...], error: str
) -> None:
    """With the class of the exception and its place."""
    sandboxed = SandboxedBinding(Raising(binding_of(), name, ERRORS[error]), 1.0)  # type: ignore[arg-type]
    with pytest.raises(TargetError, match=rf"{error}.*\(.*test_injected\.py:\d+\)"):
        getattr(sandboxed, name)(*args)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", TRAITS)
def test_a_trait_of_a_binding_that_raises_is_a_target_error(name: str, error: str) -> None:
    """With the class of the exception and its place."""
    ended = run(Raising(binding_of(), name, ERRORS[error]), "model.seek")
    assert isinstance(ended, TargetError)
    assert is_told(ended, error)
    assert "test_injected.py:" in str(ended)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", OPENER_CALLS)
def test_a_call_of_an_opener_that_raises_is_told_as_the_targets(name: str, error: str) -> None:
    """Of what sets a program up, by a TargetError with the place."""
    binding = binding_of()
    opener: Any = Raising(binding.opener, name, ERRORS[error])
    binding.opener = opener
    ended = run(binding, OPENER_CALLS[name])
    assert is_told(ended, error)


PARTS = {"splitter": splitter, "blockreader": blockreader, "metadata-table": metadata_table}
PART_CALLS = [
    *(("splitter", name) for name in ("filesystem", "fed", "finding")),
    *(("blockreader", name) for name in ("reader", "scaling")),
    *(("metadata-table", name) for name in ("filesystem", "writer", "reader", "listing")),
]


@pytest.mark.parametrize("error", ["SystemExit", "Unprintable"])
@pytest.mark.parametrize(("part", "name"), PART_CALLS)
def test_a_call_of_a_part_of_a_pipeline_that_raises_is_a_violation(
    part: str, name: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the clause whose scenario makes it."""
    binding = PARTS[part]({})
    monkeypatch.setattr(type(binding), name, lambda *_, **__: _raise(ERRORS[error]()))
    chosen = [c for c in clauses().values() if c.api == binding.api and c.testable]
    result = check_pipeline(binding, chosen, timeout=5.0, fail_fast=True)
    assert {c.outcome for c in result.clauses} & {Verdict.FAIL, Verdict.LAX}


def test_a_reader_without_one_of_the_contexts_breaks_the_clauses_about_it() -> None:
    """The error is not a bug of the kit."""
    inner = blockreader({})

    class Few(BlockReaderBinding):
        name = "few"

        def reader(self, filesystem: Any, settings: Any) -> Any:
            if settings.context == "fixed-width":
                raise NotImplementedError("no fixed-width")
            return inner.reader(filesystem, settings)

        def scaling(self, low: int, high: int, interval: float, collect: bool) -> Any:
            return inner.scaling(low, high, interval, collect)

    chosen = [c for c in clauses().values() if c.api == "blockreader" and c.testable]
    result = check_pipeline(Few(), chosen)
    failed = {c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL}
    assert failed
    assert all("width" in clause or "fixed" in clause for clause in failed), failed
