"""Parameters of which the ordinary run takes a sample, and `tox -e deep` all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import pytest


def is_sampled(every: int, name: str) -> bool:
    """Return whether a name is in the sample of one in `every`; new names change no other."""
    return crc32(name.encode()) % every == 0


def sampled(every: int, found: Iterable[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """Mark all but one in `every` as deep, by their names.

    A tuple is the values of several parameters.
    """
    return [
        pytest.param(
            *(one if isinstance(one, tuple) else (one,)),
            marks=() if is_sampled(every, name(one)) else pytest.mark.deep,
        )
        for one in found
    ]
