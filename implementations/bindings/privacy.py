"""What may be shown of a URL and of an error that speaks of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from fscontract.contract.outcome import text_of
from fscontract.contract.targets import mask_url

_PASSWORD = re.compile(r"://[^/?#@\s:]*:([^\s?#]*)@")
_SECRET = re.compile(r"pass|secret|token|key|cred|auth|sas|sig|account|header", re.IGNORECASE)
_MASK = "***"


def shown(url: str) -> str:
    """The URL, or chain of URLs, without user, password and query."""
    parts = (mask_url(part) for part in url.split("::"))
    return "::".join(part.replace(f"{_MASK}@", "").replace(f"?{_MASK}", "") for part in parts)


def secrets_in(url: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Texts that must not be shown: passwords in `url`, values of options with telling names."""
    passwords = [found for part in url.split("::") for found in _PASSWORD.findall(part)]
    found = {*passwords, *map(unquote, passwords), *_values(options, secret=False)}
    return tuple(sorted(found - {""}, key=len, reverse=True))


def hide(text: str, secrets: Iterable[str]) -> str:
    """`text` on one line without secrets, and without user and query of any URL in it."""
    for secret in secrets:
        text = text.replace(secret, _MASK)
    return " ".join(mask_url(text).split())


def told(error: BaseException, secrets: Iterable[str] = (), most: int = 160) -> str:
    """Return class and message of an exception, on one line without secrets.

    The message is cut after `most` characters.
    """
    text = hide(text_of(error), secrets)[:most]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _values(value: Any, secret: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _values(inner, secret or _SECRET.search(str(key)) is not None)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _values(inner, secret)
    elif secret and isinstance(value, str):
        yield value
