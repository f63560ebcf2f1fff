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


class _Worker:
    """Notes what a worker is to run."""

    def __init__(self) -> None:
        self.sent: list[list[int]] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.sent.append(numbers)


def _modules_of(blocks: Any, names: list[str], turns: str) -> list[str]:
    """Return the module of the block that each worker gets in its turn."""
    workers = {name: _Worker() for name in sorted({*turns})}
    blocks.registered_collections = dict.fromkeys(workers.values(), names)
    for name in names:
        work = blocks.workqueue.setdefault(blocks._split_scope(name), {})
        work[name] = False
    shown = []
    for turn in turns:
        blocks._assign_work_unit(workers[turn])
        shown.append(names[workers[turn].sent[-1][0]].split("::")[0])
    return shown


def test_a_worker_stays_in_its_directory_and_leaves_those_of_others(blocks: Any) -> None:
    modules = ("a/x.py", "a/y.py", "b/x.py", "c/x.py")
    names = [f"{module}::test[{n}]" for module in modules for n in range(2 * SIZE)]
    given = _modules_of(blocks, names, "12122211")
    assert given == ["a/x.py", "b/x.py", "a/x.py", "b/x.py", "c/x.py", "c/x.py", "a/y.py", "a/y.py"]


def test_a_worker_without_a_directory_to_itself_helps_another(blocks: Any) -> None:
    names = [f"{module}.py::test[{n}]" for module in ("a/x", "a/y") for n in range(2 * SIZE)]
    assert _modules_of(blocks, names, "1212") == ["a/x.py", "a/x.py", "a/y.py", "a/y.py"]


def test_groups_come_first(blocks: Any) -> None:
    names = [f"a/x.py::test[{number}]" for number in range(2 * SIZE)]
    given = _modules_of(blocks, [*names, "b/x.py::test@spark"], "11")
    assert given == ["b/x.py", "a/x.py"]
