"""Generate the reference of the public modules from their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

from tests.packaging.test_public_api import PUBLIC


def api_reference() -> str:
    """Return a section for each public module, with a table of its names.

    On the site, docs/hooks.py replaces the comment after each table by the signatures.
    """
    return "\n".join(line for module in PUBLIC for line in _section(module))


def _section(module: str) -> Iterator[str]:
    api = import_module(module)
    names = [name for name in api.__all__ if f"{module}.{name}" not in PUBLIC]
    yield f"## {module}"
    yield ""
    yield _first_line(api)
    yield ""
    yield "| name | |"
    yield "|---|---|"
    yield from (f"| `{name}` | {_meaning(getattr(api, name))} |" for name in names)
    yield ""
    yield f"<!-- ::: {module} -->"
    yield ""


def _meaning(value: object) -> str:
    """Return the first line of a docstring, or the value of a constant."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return _first_line(value)
    return f"`{value!r}`"


def _first_line(value: object) -> str:
    paragraph = (inspect.getdoc(value) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", r"\|")
