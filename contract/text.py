"""Make text safe to show: mask secrets, escape characters; and plurals.

Secrets are credentials in URLs and options of a target. The rule for options is the one of
docs/targets.md: the name of an option decides first, and the look of its value where the name says
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from unicodedata import category
from urllib.parse import quote, quote_plus, unquote

from fscontract.contract.untrusted import typed_value

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


_MASK = "***"
# A password may hold a slash, so what follows `name:` is user information up to the last @ ...
_PASSWORD = re.compile(r"://[^/?#@\s:]*:(?!:|\d+(?:/|\s|\Z))([^\s?#]*)@")
# ... and what follows nothing but a name is so up to the first @.
_USER = re.compile(r"://[^/?#@\s]*@")
_QUERY = re.compile(r"\?\S+")
#: Names of options, of keys in them, and of parameters in URLs, whose values are credentials ...
_SECRET = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|sas|sig|account|header|cookie|session|bearer|user|login"
    r"|private|(?:^|[^a-z])(?:pw|pin|psk|pat|sid)(?:[^a-z]|$)",
    re.IGNORECASE,
)
#: ... and of those that say where something is.
_PLACE = re.compile(
    r"folder|dir|path|root|prefix|bucket|container|region|endpoint|host|ur[il]|file|base|name"
    r"|protocol|cache|strategy|mode",
    re.IGNORECASE,
)
#: Values that are not secrets, whatever the name of the option is.
_WORDS = frozenset(
    {
        *("true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default"),
        *("basic", "digest", "anonymous"),
    }
)
#: Pairs in connection strings and queries.
_PAIR = re.compile(r"([\w.-]+)=([^;&\s]+)")
#: A word, or several in one, with a short number behind it perhaps.
_PLAIN = re.compile(r"(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)\d{0,4}|\d+")
_TOKEN = re.compile(r"[A-Za-z0-9+/=_.~:-]{16,}")
#: Words shorter than this are masked only where they stand alone: they are parts of others.
_LONG = 8
#: A value shorter than this is masked only where it stands alone, whatever it is made of.
_SHORT = 4


def mask_url(text: str) -> str:
    """`text` without the user information and the query strings of the URLs in it."""
    masked = _USER.sub(f"://{_MASK}@", _PASSWORD.sub(f"://{_MASK}@", text))
    return _QUERY.sub(f"?{_MASK}", masked) if "://" in masked else masked


def redact(text: str, options: Mapping[str, Any]) -> str:
    """`text` without the secrets among options, and without the secret parts of URLs."""
    return mask(text, secrets_of(options))


def mask(text: str, secrets: Iterable[str]) -> str:
    """`text` without these secrets, as they are or quoted, and without secret parts of URLs."""
    forms = {form for secret in secrets for form in _forms(secret)}
    for form in sorted(forms, key=len, reverse=True):
        if form in text:
            text = re.sub(_pattern(form), _MASK, text)
    return mask_url(text)


def secrets_of(options: Mapping[str, Any]) -> frozenset[str]:
    """The texts among the values of options, or in them, that must not be shown."""
    found = {text for name, value in options.items() for text in _secrets(name, value, False)}
    return frozenset(text for text in found if _may_be_secret(text))


def passwords_in(url: str) -> frozenset[str]:
    """The passwords in a URL, or in a chain of URLs, as they are typed and as they are meant."""
    found = {text for part in url.split("::") for text in _PASSWORD.findall(part)}
    return frozenset((found | {*map(unquote, found)}) - {""})


def _secrets(name: str, value: Any, inner: bool) -> Iterator[str]:
    """The secrets in the value of this name; `inner` says that all of it is secret."""
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
    """Whether it looks like a key or a token, not like words, a number, a path or a URL."""
    if _TOKEN.fullmatch(text) is None or "://" in text or text.startswith(("/", ".", "~")):
        return False
    parts = re.findall(r"[A-Za-z0-9]+", text)
    return any(len(part) >= _LONG and _PLAIN.fullmatch(part) is None for part in parts)


def _forms(secret: str) -> Iterator[str]:
    """How a secret may be written: as it is, in a URL, in a representation."""
    yield secret
    yield quote(secret)
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield repr(secret)[1:-1]


def _pattern(form: str) -> str:
    part = re.escape(form)
    alone = len(form) < _SHORT or (len(form) < _LONG and (form.isalpha() or form.isdigit()))
    return rf"(?<![^\W_]){part}(?![^\W_])" if alone else part
