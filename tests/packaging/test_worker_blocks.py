"""Workers of pytest-xdist get the tests in blocks and groups."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.worker_blocks import SIZE, WorkerBlocks


@pytest.fixture
def blocks() -> Any:
    """Return a scheduler of two workers."""
    given = {"tx": ["2*popen"]}
    config = SimpleNamespace(getvalue=given.get, getoption=given.get)
    return WorkerBlocks(cast("pytest.Config", config))


def test_consecutive_tests_of_a_module_are_in_one_block(blocks: Any) -> None:
    names = [f"tests/test_a.py::test[{number}]" for number in range(2 * SIZE)]
    found = [blocks._split_scope(name) for name in names]
    assert len({*found[:SIZE]}) == 1
    assert len({*found}) == 2


def test_tests_of_two_modules_are_in_two_blocks(blocks: Any) -> None:
    names = ("tests/test_a.py::test", "tests/test_b.py::test")
    assert len({blocks._split_scope(name) for name in names}) == 2


def test_a_group_is_whole_whatever_its_modules(blocks: Any) -> None:
    names = [f"tests/test_{number}.py::test@spark" for number in range(2 * SIZE)]
    assert {blocks._split_scope(name) for name in names} == {"spark"}


def test_a_test_stays_in_its_block_when_it_has_ended(blocks: Any) -> None:
    names = [f"tests/test_a.py::test[{number}]" for number in range(2 * SIZE)]
    before = [blocks._split_scope(name) for name in names]
    assert [blocks._split_scope(name) for name in names] == before
