"""Lay Python source out as formatters do: lines of 100 characters, double quotes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import shorten, wrap
from typing import Any

from fscontract.contract.text import printable

#: The longest line, in characters.
WIDTH = 100


def quoted(text: str) -> str:
    """Return a text as a Python literal, in double quotes unless others need fewer escapes."""
    text = "".join(c if c in "\"'" else repr(c)[1:-1] for c in text)
    if text.count('"') > text.count("'"):
        return "'" + text.replace("'", "\\'") + "'"
    return '"' + text.replace('"', '\\"') + '"'


def literal(value: Any) -> str:
    """Return a value of JSON as Python, with double quotes."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(k))}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)


def docstring(text: str) -> Iterator[str]:
    """Yield the lines of a docstring."""
    *lines, last = wrap(f'"""{harmless(text)}', WIDTH - 3)
    yield from (*lines, f'{last}"""')


def harmless(text: str) -> str:
    """Return a text that can be in a docstring."""
    text = printable(" ".join(text.split())).replace("\\", "\\\\")
    return text.replace('"""', "'''")


def printed(expected: str, actual: str) -> Iterator[str]:
    """Yield the statements that print the docstring, what is expected, and what came.

    `actual` is the inside of an f-string.
    """
    text = printable(" ".join(expected.split()))
    wanted = quoted(f"expected:  {shorten(text, WIDTH - 40, placeholder=' ...')}")
    came = f'f"actual:    {actual}"'
    line = f'print(__doc__, {wanted}, {came}, sep="\\n")'
    if len(line) <= WIDTH:
        yield line
        return
    line = f'print(__doc__, {wanted}, sep="\\n")'
    yield from [line] if len(line) <= WIDTH else ["print(__doc__)", f"print({wanted})"]
    yield f"print({came})"


def statement(text: str, indent: str = "") -> list[str]:
    """Return a statement as lines: a call, a condition or a comparison is split if too long."""
    if len(indent + text) <= WIDTH:
        return [indent + text]
    head, operands = _operands(text)
    if operands:
        first, *rest = operands
        inner = " ".join([first, *(f"{word} {one}" for word, one in rest)])
        if head.endswith("or ") and len(indent) + 4 + len(inner) <= WIDTH:
            return [f"{indent}{head}(", f"{indent}    {inner}", f"{indent})"]
        split = [f"{indent}    {first}", *(f"{indent}    {word} {one}" for word, one in rest)]
        return [f"{indent}{head}(", *split, f"{indent})"]
    opening = text.find("(")
    if opening > 0 and text.endswith(")"):
        return _split(text, opening, indent)
    for first, last in ("{}", "[]"):
        opening = text.find(f" == {first}")
        if opening > 0 and text.endswith(last):
            return _split(text, opening + len(" == "), indent)
    return [indent + text]


def with_options(text: str, indent: str = "    ") -> list[str]:
    """Return a call, with its keyword arguments in a dictionary if each would need a line."""
    opening = text.find("(")
    inner = text[opening + 1 : -1]
    if len(text) <= WIDTH - 4 or opening < 0 or text[-1] != ")" or len(inner) <= WIDTH - 8:
        return [text]
    given = arguments(inner)
    items = [_item(one) for one in given]
    if items.count("") == len(items):
        return [text]
    lines = ["options = {"]
    for item in filter(None, items):
        longer = f"{lines[-1]}{'' if lines[-1].endswith('{') else ', '}{item}"
        if len(longer) < WIDTH - len(indent):
            lines[-1] = longer
        else:
            lines.append(f"options |= {{{item}")
    positional = [one for one, item in zip(given, items, strict=True) if not item]
    return [
        *(f"{line}}}" for line in lines),
        f"{text[:opening]}({', '.join([*positional, '**options'])})",
    ]


def _item(argument: str) -> str:
    """Return a keyword argument as an item of a dictionary, "" for another argument."""
    if argument.startswith("**{"):
        return argument[3:-1]
    name, equals, value = argument.partition("=")
    return f"{quoted(name)}: {value}" if equals and name.isidentifier() else ""


def _operands(text: str) -> tuple[str, list[Any]]:
    """Return the start of an assignment of a condition, and its operands."""
    head, equals, condition = text.partition(" = ")
    if not equals or " and " not in condition:
        return "", []
    start = f"{head} = "
    if condition.startswith("right or (") and condition.endswith(")"):
        start, condition = f"{start}right or ", condition[len("right or (") : -1]
    first, *rest = condition.split(" and ")
    return start, [first, *(("and", one) for one in rest)]


def _split(text: str, opening: int, indent: str) -> list[str]:
    """Return a text that ends with a bracket, with its items each on a line.

    Arguments of a call are on one line if they fit there.
    """
    inner = text[opening + 1 : -1]
    head, end = f"{indent}{text[: opening + 1]}", f"{indent}{text[-1]}"
    if text[-1] == ")" and len(indent) + 4 + len(inner) <= WIDTH:
        return [head, f"{indent}    {inner}", end]
    return [head, *(f"{indent}    {one}," for one in arguments(inner)), end]


def arguments(text: str) -> list[str]:
    """Return arguments or items, split at the commas outside of brackets and texts."""
    parts, depth, quote, start = [], 0, "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield statements in a block."""
    for line in lines:
        yield from statement(line, "    ") if line else [""]
