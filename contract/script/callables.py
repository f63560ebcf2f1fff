"""Import the code of a user in scripts, and call it with options, without secrets."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.layout import literal, quoted
from fscontract.contract.targets import OWN_MODULES
from fscontract.contract.text import mask_url, secrets_of
from fscontract.contract.untrusted import typed_value


def arguments(options: Mapping[str, Any], typed: bool = True) -> tuple[str, ...]:
    """Return options as keyword arguments; those with secrets come from environment variables."""
    return tuple(
        f"{name}={value}" if name.isidentifier() else f"**{{{quoted(name)}: {value}}}"
        for name, value in _values(options, typed)
    )


def _values(options: Mapping[str, Any], typed: bool) -> Iterator[tuple[str, str]]:
    for name, given in options.items():
        value = typed_value(given) if typed else given
        if secrets_of({name: given}):
            text = f'os.environ["{_variable(name)}"]'
            yield name, text if isinstance(value, str) else f"json.loads({text})"
        else:
            yield name, literal(value)


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


def callable_lines(text: str, options: Mapping[str, Any], variable: str = "fs") -> tuple[str, ...]:
    """Return the lines that make a variable by a callable of the user; raise NoScript."""
    place, colon, name = text.rpartition(":")
    if not colon or "://" in text:
        raise NoScript(f"{mask_url(text)} can't be made in a script")
    lines, module = _import(place)
    return (*lines, f"{variable} = {module}.{name}({', '.join(arguments(options))})")


def function_lines(function: Any) -> tuple[tuple[str, ...], str]:
    """Return the lines that import a function, and its name; raise NoScript if it has none."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or not all(part.isidentifier() for part in name.split(".")):
        raise NoScript("the function that opens files has no name that can be imported")
    if module in ("io", "_io", "builtins"):
        return (), name
    lines, module = _import(getattr(sys.modules.get(module), "__file__", "") or module, module)
    return lines, f"{module}.{name}"


def _import(place: str, module: str = "") -> tuple[tuple[str, ...], str]:
    """Return the lines that import a module, or a file of the user, and its name."""
    if module and not module.startswith(OWN_MODULES):
        return (f"import {module}",), module
    if not place.endswith(".py"):
        package, _, name = place.rpartition(".")
        return (f"from {package} import {name}" if package else f"import {name}",), name
    path = Path(place).resolve()
    if not path.stem.isidentifier():
        raise NoScript(f"{place} can't be imported by its name")
    return (f"sys.path.insert(0, {quoted(str(path.parent))})", f"import {path.stem}"), path.stem


def is_callable(source: Source) -> bool:
    """Return whether the target is a callable of the user."""
    return "://" not in source.target and ":" in source.target
