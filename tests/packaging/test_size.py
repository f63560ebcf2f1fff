"""Functions have at most sixty lines."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("specs", "contract", "implementations", "pipeline", "fakes", "tests")
MAX_FUNCTION_LINES = 60


def test_functions_have_at_most_sixty_lines() -> None:
    """Decorators are not counted."""
    paths = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
    assert paths
    too_long = {
        f"{path.relative_to(ROOT).as_posix()}: {function.name}": length
        for path in paths
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert too_long == {}
