"""Calls that take more and more time or memory are warned of."""

from __future__ import annotations

import pytest

from fscontract.contract import clock
from fscontract.contract.runner.growth_check import Round, check_growth, describe
from fscontract.contract.runner.runner import check
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import MakeExecutor, binding_of, settings_for

CALLS = 100


def rounds(*seconds: float, objects: int = 0, memory: int = 0) -> list[Round]:
    """Return rounds of these seconds, after each of which so much more is held."""
    return [Round(s, n * objects, n * memory) for n, s in enumerate(seconds)]


def test_calls_of_the_same_time_and_memory_do_not_grow() -> None:
    assert describe(rounds(1e-6, 1e-6, 1e-6, 1e-6), CALLS) == ""


def test_calls_that_become_slower_in_every_round_grow() -> None:
    assert describe(rounds(1e-5, 4e-5, 8e-5, 2e-4), CALLS) == (
        "a call takes 200 us after 400 calls on one stream, 10 us at first"
    )


def test_a_slow_round_between_fast_ones_is_no_growth() -> None:
    assert describe(rounds(1e-5, 9e-4, 2e-5, 2e-4), CALLS) == ""


def test_a_few_microseconds_more_are_no_growth() -> None:
    assert describe(rounds(1e-6, 2e-6, 5e-6, 9e-6), CALLS) == ""


def test_objects_that_each_call_keeps_are_counted() -> None:
    grown = rounds(1e-6, 1e-6, 1e-6, 1e-6, objects=2 * CALLS)
    assert describe(grown, CALLS) == "each call on a stream keeps about 2 objects"


def test_memory_that_each_call_keeps_is_counted() -> None:
    grown = rounds(1e-6, 1e-6, 1e-6, 1e-6, memory=5_000 * CALLS)
    assert describe(grown, CALLS) == "each call on a stream keeps about 5,000 bytes"


def test_a_cache_that_fills_at_first_is_no_growth() -> None:
    filling = [Round(1e-6, min(n, 2) * 9 * CALLS, 0) for n in range(6)]
    assert describe(filling, CALLS) == ""


class Keeps(MemoryInputStream):
    """Each seek is kept in a list."""

    def __init__(self, data: bytes, path: str = "/memory", declared: int | None = None) -> None:
        super().__init__(data, path, declared)
        self._log: list[object] = []

    def seek(self, position: int) -> None:
        """Keep a few new objects."""
        self._log += [[position] for _ in range(9)]
        super().seek(position)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock at which no time passes."""
    monkeypatch.setattr(clock, "monotonic", lambda: 0.0)


@pytest.mark.usefixtures("still")
def test_a_stream_that_keeps_every_seek_is_found(executor: MakeExecutor) -> None:
    assert "objects" in check_growth(executor(Keeps))


@pytest.mark.usefixtures("still")
def test_a_stream_that_keeps_nothing_does_not_grow(executor: MakeExecutor) -> None:
    assert check_growth(executor()) == ""


def test_growth_is_a_warning_of_a_run_that_conforms() -> None:
    result = check(binding_of(Keeps), settings_for("close.release"))
    assert result.conforms
    (warning,) = result.warnings
    assert warning.startswith("test: each call on a stream keeps about")
