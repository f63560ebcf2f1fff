"""Tests of contract/text.py: masks, escapes and plurals."""

from __future__ import annotations

import json
import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.text import (
    escaped,
    mask_url,
    passwords_in,
    plural,
    printable,
    redact,
    secrets_of,
)


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


AWS = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("s3://bucket/key", "s3://bucket/key"),
        ("s3://u:p@bucket/key", "s3://***@bucket/key"),
        ("s3://AK:a/b+c@bucket/key", "s3://***@bucket/key"),
        ("s3://token@bucket", "s3://***@bucket"),
        ("http://h:8080/a@b", "http://h:8080/a@b"),
        ("file:///d/a@b", "file:///d/a@b"),
        ("http://h/f?sig=x&y=z", "http://h/f?***"),
        ("zip://a::https://u:p@h/x.zip?t=1", "zip://a::https://***@h/x.zip?***"),
        ("see http://u:p@h/x for more", "see http://***@h/x for more"),
        ("what?now", "what?now"),
    ],
)
def test_urls_are_masked(url: str, masked: str) -> None:
    """User information and queries hold secrets; ports and paths do not."""
    assert mask_url(url) == masked


def test_passwords_are_those_of_each_url_in_a_chain() -> None:
    assert passwords_in("zip://a::ftp://me:p%40w@h/::http://h:80/x@y") == {"p%40w", "p@w"}


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("boto", "no 'boto'; known: obstore, boto3", "no '***'; known: obstore, boto3"),
        ("boto", "boto_key, (boto) and BOTO", "***_key, (***) and BOTO"),
        ("b0to", "xb0tox", "x***x"),
        ("password", "thepassword3", "the***3"),
        ("a.c-", "a.c-d abcd", "***d abcd"),
        ("1234", "pread(12345) and 1234", "pread(12345) and ***"),
        ("s1", "with s1, not xs1", "with ***, not xs1"),
        ("yes", "yes", "yes"),
        ("true", "returned true", "returned true"),
        ("5", "pread(5, 5)", "pread(5, 5)"),
        ("a b/c", "denied for a%20b/c, a%20b%2Fc and a+b%2Fc", "denied for ***, *** and ***"),
        ("it's\n", 'said "it\'s\\n"', 'said "***"'),
        ('"quoted"', "denied for quoted", "denied for ***"),
        ('["listed1", "listed2"]', "listed1 or listed2", "*** or ***"),
    ],
)
def test_values_of_secret_options_are_masked(value: str, text: str, shown: str) -> None:
    """Short words only where they stand alone: they are parts of others by chance."""
    assert redact(text, {"key": value}) == shown


def test_longer_values_are_masked_first() -> None:
    """Or what is left of them would show."""
    assert redact("12345 1234", {"token": "1234", "password": "12345"}) == "*** ***"


@pytest.mark.parametrize(
    "name",
    [
        *("secret", "password", "passwd", "pwd", "pw", "PIN", "token", "key", "aws_access_key_id"),
        *("fs.s3a.secret.key", "sas_token", "signature", "credential", "Authorization", "headers"),
        *("account_name", "username", "login", "cookie", "private_key", "sessionId", "my-pat"),
    ],
)
def test_names_of_credentials_mask_any_value(name: str) -> None:
    assert redact("no swordfish here", {name: "swordfish"}) == "no *** here"
    nested = json.dumps({"client": [{name: {"X-Any": "swordfish"}}]})
    assert redact("no swordfish here", {"client_kwargs": nested}) == "no *** here"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("cache", "mmap", "OSError: mmap length is greater than file size"),
        ("folder", "x", "x/fscontract-1 is not there"),
        ("folder", "data", "/srv/data/a: no data"),
        ("folder", "tmpA1b2C3d4E5f6G7h8", "tmpA1b2C3d4E5f6G7h8/a is not there"),
        ("root", "/tmp/pytest-of-me/pytest-0/test_a1", "/tmp/pytest-of-me/pytest-0/test_a1/f"),
        ("where", "/tmp/Ab12Cd34Ef56Gh78/x", "/tmp/Ab12Cd34Ef56Gh78/x/f"),
        ("size", "4096", "pread(4096, 4096)"),
        ("count", "123456789012345678", "returned 123456789012345678"),
        ("region", "us-gov-west-1", "no us-gov-west-1"),
        ("zone", "us-gov-west-1-availability", "no us-gov-west-1-availability"),
        ("flavour", "correct-horse-battery", "a correct-horse-battery"),
        ("compat", "readAheadCachePolicy2", "a readAheadCachePolicy2"),
        ("endpoint", "http://localhost:9000/", "http://localhost:9000/b"),
        ("anon", "false", "returned false"),
    ],
)
def test_values_of_other_options_stay(name: str, value: str, text: str) -> None:
    """A word, a number, a path or an address is not a secret."""
    assert redact(text, {name: value}) == text


@pytest.mark.parametrize(
    "value",
    [
        AWS,
        "AKIAIOSFODNN7EXAMPLE",
        "550e8400-e29b-41d4-a716-446655440000",
        "9f86d081884c7d659a2feaa0c55ad015",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    ],
)
def test_a_value_that_looks_random_is_masked_under_any_name(value: str) -> None:
    assert redact(f"denied: {value}!", {"flavour": value}) == "denied: ***!"
    assert redact(f"denied: {value}!", {"more": json.dumps([{"x": value}])}) == "denied: ***!"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("https://me:swordfish@host/x", "swordfish"),
        ("https://host/x?sv=1&sig=swordfish&sr=b", "swordfish"),
        ("DefaultEndpointsProtocol=https;AccountKey=swordfish;x=y", "swordfish"),
        ("host=h password=swordfish", "swordfish"),
        ("http://me:sword%40fish@proxy", "sword@fish"),
    ],
)
def test_secrets_within_other_values_are_masked(value: str, secret: str) -> None:
    """Passwords of URLs, and pairs of queries and connection strings."""
    assert redact(f"no {secret} here", {"endpoint": value}) == "no *** here"


@given(
    st.text(string.ascii_letters + string.digits + "+/=_-!$ ", min_size=8),
    st.sampled_from(["before {} behind", "{}", "x{}y", "a={!r}"]),
)
def test_no_secret_of_eight_characters_leaks(secret: str, form: str) -> None:
    """It may be unchanged, in a representation, or in a URL."""
    if secret in secrets_of({"password": secret}):
        assert secret not in redact(form.format(secret), {"password": secret}).replace("***", "")
        url = f"http://h/{quote(secret, safe='')}"
        assert quote(secret, safe="") not in redact(url, {"password": secret})
    else:
        assert secret.strip() == "" or secret.lower().strip() in ("anonymous",)
