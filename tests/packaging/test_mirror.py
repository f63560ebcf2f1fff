"""Tests of the kit are at the path of the module that they test."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("api", "concurrency", "distributed", "isolation", "models", "program", "scenarios")
#: Modules whose tests are in a file of another name.
ELSEWHERE = {
    "contract/concurrency/shrink.py": "tests/contract/concurrency/test_schedule.py",
    "contract/isolation/protocol.py": "tests/contract/runner/test_isolate.py",
}


def _modules(folder: Path) -> set[str]:
    return {p.relative_to(ROOT).as_posix() for p in folder.glob("*.py") if p.stem != "__init__"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_have_a_test_file_and_test_files_have_a_module(folder: str) -> None:
    modules = _modules(ROOT / "contract" / folder) - ELSEWHERE.keys()
    tests = sorted((ROOT / "tests" / "contract" / folder).glob("test_*.py"))
    assert modules == {f"contract/{folder}/{p.name.removeprefix('test_')}" for p in tests}


def test_files_with_tests_of_other_modules_exist() -> None:
    assert [path for path in ELSEWHERE.values() if not (ROOT / path).exists()] == []
