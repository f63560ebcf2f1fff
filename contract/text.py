"""Plain text for people: escapes of characters that must not be printed, and plurals."""

from __future__ import annotations

from collections.abc import Callable
from unicodedata import category

#: Categories of characters that drive a terminal, turn the order of others around, show as
#: nothing, end a line, or are not characters: names could be shown as what they are not.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return `text` with escapes for characters that must not reach a terminal or XML.

    Newlines stay.
    """
    return escaped(text, lambda c: c.encode("unicode_escape").decode("ascii"))


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """Return `text` in which `escape` replaces each of the characters that `printable` escapes."""
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or _is_visible(c) else escape(c) for c in text)


def _is_visible(char: str) -> bool:
    return category(char) not in _HIDDEN and ord(char) & 0xFFFE != 0xFFFE


def plural(count: int, noun: str) -> str:
    """Return `1 clause`, `2 clauses`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
