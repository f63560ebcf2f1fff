"""Collect the definitions that a function of a module needs, as text for a script.

Definitions of scenario modules are copied, without annotations; classes of harnesses and whatever
is not in a scenario module are imported, from the public module that has them.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

from fscontract.contract.script.layout import quoted

_OWN, _SCENARIOS = "fscontract.", "fscontract.contract.scenarios."
#: The public modules of others; the default is that of scenarios.
_PUBLIC = {
    "fscontract.contract.api.errors": "fscontract.errors",
    "fscontract.contract.api.filesystem": "fscontract",
}
#: Values that are written as literals if they are short.
_PLAIN = (str, int, float, bytes)
_LONGEST_LITERAL = 80
_IGNORED = re.compile(r"  # type: ignore\S*$", re.MULTILINE)
_BLOCKS = ("def ", "class ", "@")
_Place = tuple[int, int]


class Definitions:
    """The imports of a script, and its constants, classes and functions, in their order."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = {}
        #: The texts of constants, and of functions and what needs them, after what each needs.
        self._constants: list[str] = []
        self._others: dict[str, str] = {}
        self._done: set[tuple[str, str]] = set()

    @property
    def imported(self) -> list[str]:
        """The lines of the imports, each group after an empty line."""
        own = sorted(name for name in self._imports if name.startswith(_OWN[:-1]))
        standard = sorted(self._imports.keys() - {*own})
        groups = [[*self._imported(names)] for names in (standard, own) if names]
        return [line for group in groups for line in ("", *group)]

    @property
    def lines(self) -> list[str]:
        """The lines of the definitions: two empty ones around functions and classes."""
        lines: list[str] = []
        for before, text in pairwise(["", *self._constants, *self._others.values()]):
            is_block = text.startswith(_BLOCKS) or before.startswith(_BLOCKS)
            lines += [*([""] * 2 if is_block else [""] * (not before)), *text.splitlines()]
        return lines

    def _imported(self, modules: list[str]) -> Iterator[str]:
        """Yield the imports from modules."""
        for module in modules:
            names = sorted(self._imports[module])
            yield f"from {module} import {', '.join(names)}" if names else f"import {module}"

    def imports(self, module: str, *names: str) -> None:
        """Add an import."""
        self._imports.setdefault(module, set()).update(names)

    def function(self, function: Callable[..., Any]) -> None:
        """Add a function of a scenario, and what it needs."""
        self.need(sys.modules[function.__module__], function.__name__)

    def text(self, name: str, lines: Iterable[str]) -> None:
        """Add the lines of a function."""
        self._others[name] = "\n".join(lines)

    def constant(self, module: ModuleType, value: object) -> str:
        """Return the name of the module's constant that is a value, and add it; "" without one."""
        for name, found in vars(module).items():
            if found is value:
                self.need(module, name)
                return name
        return ""

    def need(self, module: ModuleType, name: str) -> None:
        """Add the definition of a name in a module."""
        if (module.__name__, name) in self._done or not hasattr(module, name):
            return
        self._done.add((module.__name__, name))
        value = getattr(module, name)
        if type(value) in _PLAIN and len(repr(value)) <= _LONGEST_LITERAL:
            text = quoted(value) if isinstance(value, str) else repr(value)
            self._constants.append(f"{name} = {text}")
            return
        node = _definitions(module.__name__)[name]
        if isinstance(node, ast.Import):
            self.imports(name)
        elif isinstance(node, ast.ImportFrom):
            self._need_imported(str(node.module), name, value)
        elif isinstance(value, type) and module.__name__.endswith(".harness"):
            self.imports(_public(module.__name__), name)
        else:
            self._add(module, name, node)

    def _need_imported(self, origin: str, name: str, value: object) -> None:
        """Add a name that a module imports from another one."""
        if not origin.startswith(_OWN):
            self.imports(origin, name)
        elif origin.startswith(_SCENARIOS) and not isinstance(value, type):
            self.need(sys.modules[origin], name)
        else:
            self.imports(_public(origin), name)

    def _add(self, module: ModuleType, name: str, node: ast.stmt) -> None:
        names = _names(node)
        for needed in names:
            self.need(module, needed)
        text = _text(module.__name__, node)
        if isinstance(node, ast.Assign | ast.AnnAssign) and self._others.keys().isdisjoint(names):
            self._constants.append(text)
        else:
            self._others[name] = text


def _public(module: str) -> str:
    return _PUBLIC.get(module, "fscontract.scenarios")


@cache
def _source(module: str) -> str:
    return inspect.getsource(sys.modules[module])


@cache
def _definitions(module: str) -> dict[str, ast.stmt]:
    """Return the statements of a module that define its names."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(_source(module)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name: node for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found |= dict.fromkeys(_stored(ast.walk(node)), node)
    return found


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that are assigned to."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _names(node: ast.stmt) -> list[str]:
    """Return the global names that a definition uses, without its annotations, in their order."""
    skipped = {id(n) for one in _annotations(node) for n in ast.walk(one)}
    parts = [n for n in ast.walk(node) if id(n) not in skipped]
    bound = {n.arg for n in parts if isinstance(n, ast.arg)}
    bound.update(_stored(parts))
    roots = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    decorators = {id(n) for one in roots for n in ast.walk(one)}
    names = [n for n in parts if isinstance(n, ast.Name) and id(n) not in decorators]
    names.sort(key=lambda n: (n.lineno, n.col_offset))
    used = dict.fromkeys(n.id for n in names if n.id not in bound)
    return [name for name in used if not hasattr(builtins, name)]


def _annotations(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield the annotations in a definition that it does not evaluate."""
    for one in ast.walk(node):
        if isinstance(one, ast.FunctionDef):
            noted = [argument.annotation for argument in _arguments(one.args)]
            yield from filter(None, [*noted, one.returns])
        elif isinstance(one, ast.AnnAssign) and not isinstance(node, ast.ClassDef):
            yield one.annotation


def _text(module: str, node: ast.stmt) -> str:
    """Return a definition without decorators, annotations, docstrings and notes for linters."""
    lines = [line.encode() for line in _source(module).splitlines(keepends=True)]
    for (first, start), (last, end), text in sorted(_changed(node), reverse=True):
        rest = lines[first - 1][:start] + text.encode() + lines[last - 1][end:]
        lines[first - 1 : last] = [rest, *[b""] * (last - first)]
    text = b"".join(lines[node.lineno - 1 : node.end_lineno]).decode()
    return _IGNORED.sub("", text).rstrip()


def _changed(node: ast.stmt) -> Iterator[tuple[_Place, _Place, str]]:
    """Yield the first and the last place of each part of a definition to replace, and its text."""
    for one in ast.walk(node):
        if isinstance(one, ast.AnnAssign) and not isinstance(node, ast.ClassDef):
            noted = one.annotation
            yield (noted.lineno, noted.col_offset - len(": ")), _end(noted), ""
        if isinstance(one, ast.FunctionDef):
            header = f"def {one.name}({ast.unparse(_without_annotations(one.args))}):\n"
            yield (one.lineno, one.col_offset), (_first_line(one.body[0]), 0), header
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            first, *rest = one.body
            if rest and ast.get_docstring(one) is not None:
                yield (first.lineno, 0), (_end(first)[0] + 1, 0), ""


def _first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, with its decorators."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [*every, *filter(None, (arguments.vararg, arguments.kwarg))]


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    copied = deepcopy(arguments)
    for argument in _arguments(copied):
        argument.annotation = None
    return copied


def _end(node: ast.stmt | ast.expr) -> _Place:
    """Return the line and the column of the end of a node."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
