"""What JPype keeps of exceptions does not slow collections down."""

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
    """Nothing stays aside."""
    yield
    gc.unfreeze()


def tracebacks() -> int:
    """How many a collection looks at."""
    gc.collect()
    return sum(isinstance(each, types.TracebackType) for each in gc.get_objects())


def test_exceptions_of_streams_are_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the next file is opened, once there were many."""
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


def test_nothing_is_put_aside_for_few() -> None:
    kept = jvm.ExceptionCache()
    before = gc.get_freeze_count()
    kept.add()
    kept.put_aside()
    assert gc.get_freeze_count() == before
