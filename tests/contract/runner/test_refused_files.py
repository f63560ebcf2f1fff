"""A run on a target that stores no long files, or has a limit of open streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.runner.result import RunResult, RunVerdict, Verdict
from fscontract.contract.runner.runner import check
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import binding_of, settings_for

#: The longest file that is stored, in bytes.
LIMIT = 10_000


class _Stores(StreamBinding):
    """A store that asks, before it writes a file, whether it can."""

    def __init__(
        self, can_write: Callable[[int], bool], kind: type[MemoryInputStream] = MemoryInputStream
    ) -> None:
        super().__init__(MemoryFileSystem(kind), "test")
        self._can_write = can_write

    def create(self, content: bytes) -> str:
        if not self._can_write(len(content)):
            raise self.failure("can't write a file", OSError(27, "File too large"))
        return super().create(content)


def run(binding: StreamBinding, *clauses: str) -> RunResult:
    return check(binding, settings_for(*clauses))


def test_longer_files_than_a_target_stores_are_left_out_and_the_rest_is_judged() -> None:
    result = run(_Stores(lambda length: length <= LIMIT), "read-into.data", "pread.isolation")
    assert result.verdict is RunVerdict.CONFORMS
    assert [c.outcome for c in result.clauses] == [Verdict.PASS, Verdict.PASS]
    (warning,) = result.warnings
    assert "bytes and more were not tried: test: can't write a file: OSError" in warning


def test_a_failure_on_a_file_that_is_stored_is_found_beside_files_that_are_not() -> None:
    class Ends(MemoryInputStream):
        def seek(self, position: int) -> None:
            super().seek(position + (position == self._size - 1 and self._size > 8_000))

    stores = _Stores(lambda length: length <= LIMIT, Ends)
    assert run(stores, "seek.pos").verdict is RunVerdict.DOES_NOT_CONFORM


def test_a_write_that_fails_once_leaves_nothing_out() -> None:
    failed: list[int] = []

    def fails_once(length: int) -> bool:
        if length > LIMIT and not failed:
            failed.append(length)
            return False
        return True

    result = run(_Stores(fails_once), "read-into.data")
    assert failed
    assert result.warnings == ()


def test_a_target_that_stores_nothing_more_ends_the_run() -> None:
    full: list[int] = []

    def until_it_is_full(length: int) -> bool:
        full.extend([length] * (length > LIMIT))
        return not full

    with pytest.raises(TargetError, match="test: can't write a file: OSError"):
        run(_Stores(until_it_is_full), "read-into.data")


def test_costs_of_longer_files_than_a_target_stores_are_not_measured() -> None:
    result = run(_Stores(lambda length: length <= 300), "open.cost-pread", "read-into.data")
    assert RunVerdict.CONFORMS is result.verdict
    assert all(c.outcome is not Verdict.ERROR for c in result.clauses)


def limited(limit: int, error: Exception) -> StreamBinding:
    """Return a binding to streams of which `limit` can be open at once."""
    now_open: list[MemoryInputStream] = []

    class Pooled(MemoryInputStream):
        def __init__(self, *args: Any) -> None:
            if len(now_open) >= limit:
                raise error
            super().__init__(*args)
            now_open.append(self)

        def close(self) -> None:
            if self in now_open:
                now_open.remove(self)
            super().close()

    return binding_of(Pooled)


def test_a_limit_of_open_streams_is_a_warning() -> None:
    result = run(limited(8, OSError("too many connections")), "open.state", "open.independent")
    assert result.verdict is RunVerdict.CONFORMS
    (warning,) = result.warnings
    expected = "no more than 8 streams were open at once: IO (OSError: too many connections)"
    assert warning == expected


@pytest.mark.parametrize(
    ("limit", "error"), [(2, OSError("busy")), (8, TypeError("no more arguments"))]
)
def test_an_open_that_fails_beside_few_streams_or_oddly_is_a_failure(
    limit: int, error: Exception
) -> None:
    assert run(limited(limit, error), "open.state").verdict is RunVerdict.DOES_NOT_CONFORM
