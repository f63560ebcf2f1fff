"""Tests that exceptions kept by JPype do not slow down garbage collection."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.jvm import jvm


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Unfreeze all objects after the test."""
    yield
    gc.unfreeze()


def tracebacks() -> int:
    """Return the number of tracebacks that a collection visits."""
    gc.collect()
    return sum(isinstance(each, types.TracebackType) for each in gc.get_objects())


def test_many_exceptions_are_frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the next open after many exceptions."""
    monkeypatch.setattr(jvm, "MAX_EXCEPTIONS", 100)
    binding = HadoopBinding.from_url(f"raw://{tmp_path}", {})
    binding.prepare()
    try:
        path = binding.create(b"12345")
        seek, close = binding.bind(Step("seek", (-1,))), binding.bind(Step("close"))
        before = tracebacks()
        for _ in range(1000):
            stream = binding.open(path)
            assert seek(stream).kind is Kind.EOF
            close(stream)
        assert tracebacks() - before < 1000
    finally:
        binding.dispose()


def test_few_exceptions_are_not_frozen() -> None:
    kept = jvm.ExceptionCache()
    before = gc.get_freeze_count()
    kept.add()
    kept.put_aside()
    assert gc.get_freeze_count() == before
