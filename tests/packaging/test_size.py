"""Files and functions are short enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("specs", "contract", "implementations", "pipeline", "fakes", "tests")
FILES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
MOST_LINES = 400
MEDIAN_LINES = 150
MOST_FUNCTION_LINES = 60


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_file_and_no_function_is_too_long(path: Path) -> None:
    """A file has at most 400 lines, a function at most 60, its decorators not counted."""
    assert _lines(path) <= MOST_LINES
    lengths = {f.name: (f.end_lineno or 0) - f.lineno + 1 for f in _functions(path)}
    assert {n: count for n, count in lengths.items() if count > MOST_FUNCTION_LINES} == {}


def test_half_of_the_files_are_short() -> None:
    """The median stays at 150 lines or below."""
    assert median(_lines(p) for p in FILES) <= MEDIAN_LINES
