"""Make text safe to show: mask secrets, escape characters; and plurals.

Secrets are credentials in URLs and options of a target. docs/reference/targets.md has the rule for
options: the name of an option decides first; the form of its value decides if the name is
inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from unicodedata import category
from urllib.parse import quote, quote_plus, unquote

from fscontract.contract.untrusted import typed_value

#: Categories of characters that control a terminal, reverse the order of others, are invisible,
#: end a line, or are not characters: with them a name could imitate another one.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return `text` with escapes for characters that must not reach a terminal or XML.

    Newlines stay.
    """
    return escaped(text, lambda c: c.encode("unicode_escape").decode("ascii"))


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """Return `text` with `escape` applied to each of the characters that `printable` escapes."""
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or _is_visible(c) else escape(c) for c in text)


def _is_visible(char: str) -> bool:
    return category(char) not in _HIDDEN and ord(char) & 0xFFFE != 0xFFFE


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 clause`, `2 clauses`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_MASK = "***"
# A password may contain a slash, so after `name:` user information extends to the last @ ...
_PASSWORD = re.compile(r"://[^/?#@\s:]*:(?!:|\d+(?:/|\s|\Z))([^\s?#]*)@")
# ... and after a name alone, to the first @.
_USER = re.compile(r"://[^/?#@\s]*@")
_QUERY = re.compile(r"\?\S+")
#: Names of options, of their keys, and of URL parameters whose values are credentials ...
_SECRET = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|sas|sig|account|header|cookie|session|bearer|user|login"
    r"|private|(?:^|[^a-z])(?:pw|pin|psk|pat|sid)(?:[^a-z]|$)",
    re.IGNORECASE,
)
#: ... and of those whose values are locations.
_PLACE = re.compile(
    r"folder|dir|path|root|prefix|bucket|container|region|endpoint|host|ur[il]|file|base|name"
    r"|protocol|cache|strategy|mode",
    re.IGNORECASE,
)
#: Values that are not secrets, regardless of the option's name.
_WORDS = frozenset(
    {
        *("true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default"),
        *("basic", "digest", "anonymous"),
    }
)
#: Pairs in connection strings and queries.
_PAIR = re.compile(r"([\w.-]+)=([^;&\s]+)")
#: A word, or several joined words, optionally followed by a short number.
_PLAIN = re.compile(r"(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)\d{0,4}|\d+")
_TOKEN = re.compile(r"[A-Za-z0-9+/=_.~:-]{16,}")
#: Words shorter than this are masked only as separate words, because they are parts of others.
_LONG = 8
#: Any value shorter than this is masked only as a separate word.
_SHORT = 4


def mask_url(text: str) -> str:
    """Return `text` without the user information and the query strings of the URLs in it."""
    masked = _USER.sub(f"://{_MASK}@", _PASSWORD.sub(f"://{_MASK}@", text))
    return _QUERY.sub(f"?{_MASK}", masked) if "://" in masked else masked


def redact(text: str, options: Mapping[str, Any]) -> str:
    """Return `text` without the secrets among options, and without the secret parts of URLs."""
    return mask(text, secrets_of(options))


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return `text` without these secrets, plain or quoted, and without secret parts of URLs."""
    forms = {form for secret in secrets for form in _forms(secret)}
    for form in sorted(forms, key=len, reverse=True):
        if form in text:
            text = re.sub(_pattern(form), _MASK, text)
    return mask_url(text)


def secrets_of(options: Mapping[str, Any]) -> frozenset[str]:
    """Return the secret texts in the values of options."""
    found = {text for name, value in options.items() for text in _secrets(name, value, False)}
    return frozenset(text for text in found if _may_be_secret(text))


def passwords_in(url: str) -> frozenset[str]:
    """Return the passwords in a URL, or in a chain of URLs, as typed and as decoded."""
    found = {text for part in url.split("::") for text in _PASSWORD.findall(part)}
    return frozenset((found | {*map(unquote, found)}) - {""})


def _secrets(name: str, value: Any, inner: bool) -> Iterator[str]:
    """Yield the secrets in the value of this name; `inner` means that all of it is secret."""
    value, text = typed_value(value), str(value)
    secret = inner or _SECRET.search(name) is not None
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _secrets(str(key), below, secret)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _secrets(name, below, secret)
    elif not isinstance(value, bool) and value is not None:
        texts = {text, str(value)}
        if secret or (not _PLACE.search(name) and any(map(_looks_random, texts))):
            yield from texts
        yield from passwords_in(text)
        yield from (word for key, word in _PAIR.findall(text) if _SECRET.search(key))


def _may_be_secret(text: str) -> bool:
    small = text.isdigit() and len(text) < _SHORT
    return text.lower() not in _WORDS and text.strip() != "" and not small


def _looks_random(text: str) -> bool:
    """Return whether a value looks like a key or token, not words, a number, a path or a URL."""
    if _TOKEN.fullmatch(text) is None or "://" in text or text.startswith(("/", ".", "~")):
        return False
    parts = re.findall(r"[A-Za-z0-9]+", text)
    return any(len(part) >= _LONG and _PLAIN.fullmatch(part) is None for part in parts)


def _forms(secret: str) -> Iterator[str]:
    """Yield the forms of a secret: plain, in a URL, in a representation."""
    yield secret
    yield quote(secret)
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield repr(secret)[1:-1]


def _pattern(form: str) -> str:
    part = re.escape(form)
    alone = len(form) < _SHORT or (len(form) < _LONG and (form.isalpha() or form.isdigit()))
    return rf"(?<![^\W_]){part}(?![^\W_])" if alone else part
