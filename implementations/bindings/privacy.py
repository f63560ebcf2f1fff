"""What may be shown of a URL and of an error that speaks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fscontract.contract.masking import mask, mask_url, passwords_in, secrets_of
from fscontract.contract.outcome import text_of

_MASK = "***"


def shown(url: str) -> str:
    """The URL, or chain of URLs, without user, password and query."""
    parts = (mask_url(part) for part in url.split("::"))
    return "::".join(part.replace(f"{_MASK}@", "").replace(f"?{_MASK}", "") for part in parts)


def secrets_in(url: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Texts that must not be shown: passwords in `url`, and the secrets among options."""
    found = passwords_in(url) | secrets_of(options)
    return tuple(sorted(found, key=len, reverse=True))


def hide(text: str, secrets: Iterable[str]) -> str:
    """`text` on one line without secrets, and without user and query of any URL in it."""
    return " ".join(mask(text, secrets).split())


def told(error: BaseException, secrets: Iterable[str] = (), most: int = 160) -> str:
    """Return class and message of an exception, on one line without secrets.

    The message is cut after `most` characters.
    """
    text = hide(text_of(error), secrets)[:most]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
