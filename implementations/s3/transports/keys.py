"""Keys that obstore has no word for."""

from __future__ import annotations


def nameable(key: str) -> bool:
    """Whether obstore takes a key for what it is."""
    if any(c < " " or c == "\x7f" for c in key):
        return False
    return all(element not in ("", ".", "..") for element in key.split("/"))
