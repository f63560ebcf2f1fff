"""Tests of masking in URLs and errors."""

from __future__ import annotations

import pytest

from fscontract.implementations.bindings.common import hide, secrets_in, shown


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("file:///d", "file:///d"),
        ("http://me:pw@host:81/a?sig=1#x", "http://host:81/a"),
        ("zip://in.bin::http://me:pw@host/a.zip?sig=1", "zip://in.bin::http://host/a.zip"),
    ],
)
def test_a_url_is_shown_without_user_and_query(url: str, name: str) -> None:
    """In every part of a chain."""
    assert shown(url) == name


def test_secrets_are_found_in_the_url_and_in_options() -> None:
    """Other options may be shown."""
    options = {"secret": "s1", "anon": "no", "client_kwargs": {"headers": {"X": "h1"}, "a": 1}}
    assert set(secrets_in("ftp://me:p%40w@host/", options)) == {"s1", "h1", "p%40w", "p@w"}


def test_a_message_is_hidden_on_one_line() -> None:
    """Secrets are masked everywhere."""
    text = hide("no\nway: http://u:pw@h/a?x=1 with s1", ["s1"])
    assert "pw" not in text
    assert "s1" not in text
    assert "x=1" not in text
    assert text.startswith("no way: http://")
