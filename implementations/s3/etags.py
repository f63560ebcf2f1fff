"""ETags as S3 and HTTP format and compare them (RFC 9110, 8.8.3 and 13.1.1)."""

from __future__ import annotations

_WEAK = "W/"


def plain(etag: str | None) -> str | None:
    """Return an ETag without quotes, or None; a weak ETag keeps its `W/`."""
    if not etag:
        return None
    mark = _WEAK if etag.startswith(_WEAK) else ""
    return mark + etag.removeprefix(_WEAK).strip('"')


def header(etag: str | None) -> str | None:
    """Return the `If-Match` value for an ETag; None if it is missing or weak.

    A weak ETag never matches in `If-Match`.
    """
    return None if etag is None or etag.startswith(_WEAK) else f'"{etag}"'


def same(one: str, other: str) -> bool:
    """Return True if two ETags without quotes identify the same content, ignoring weakness."""
    return one.removeprefix(_WEAK) == other.removeprefix(_WEAK)
