"""ETags as S3 and HTTP write and compare them (RFC 9110, 8.8.3 and 13.1.1)."""

from __future__ import annotations

_WEAK = "W/"


def plain(etag: str | None) -> str | None:
    """Return an ETag without quotes, None if there is none; a weak one keeps its `W/`."""
    if not etag:
        return None
    mark = _WEAK if etag.startswith(_WEAK) else ""
    return mark + etag.removeprefix(_WEAK).strip('"')


def header(etag: str | None) -> str | None:
    """Return what to send as `If-Match`, None without an ETag and for a weak one.

    A weak one matches nothing there.
    """
    return None if etag is None or etag.startswith(_WEAK) else f'"{etag}"'


def same(one: str, other: str) -> bool:
    """Whether two ETags without quotes name one content, weak or not."""
    return one.removeprefix(_WEAK) == other.removeprefix(_WEAK)
