"""Escapes and plurals."""

from __future__ import annotations

import pytest

from fscontract.contract.text import escaped, plural, printable


def test_printable_escapes_as_python_does() -> None:
    """Control characters, and characters that turn the order of others around."""
    assert printable("tab\t, nul\0, bell\x07") == "tab\\t, nul\\x00, bell\\x07"
    assert printable("\u202egpj.exe \u2066 שם") == "\\u202egpj.exe \\u2066 שם"


@pytest.mark.parametrize(
    "char",
    [
        *("\x00", "\t", "\r", "\x1b", "\x7f", "\x85", "\x9b"),  # controls, C0 and C1
        *("\u061c", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069"),  # what turns the order
        *("\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\U000e0041"),  # what shows as nothing
        *("\u2028", "\u2029", "\ud800", "\ufffe", "\U0001ffff"),  # ends of lines, no characters
    ],
    ids=ascii,
)
def test_printable_escapes_characters_that_mislead(char: str) -> None:
    """Everything else stays."""
    text = printable(f"é{char}שם\n")
    assert text.isascii() is False
    assert text == f"é{char.encode('unicode_escape').decode()}שם\n"


@pytest.mark.parametrize("text", ["", "plain", "two\nlines", "é שם 日本 😀", "a\u00a0b", "\u0301"])
def test_printable_keeps_other_text(text: str) -> None:
    """Newlines, too."""
    assert printable(text) == text


def test_escaped_uses_the_given_form() -> None:
    """JSON has another form than Python."""
    assert escaped("a\x07b", lambda char: f"<{ord(char)}>") == "a<7>b"


@pytest.mark.parametrize(("count", "text"), [(0, "0 clauses"), (1, "1 clause"), (2, "2 clauses")])
def test_plural_adds_an_s_unless_there_is_one(count: int, text: str) -> None:
    """The noun is regular."""
    assert plural(count, "clause") == text
