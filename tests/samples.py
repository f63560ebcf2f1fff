"""Parameters of which the ordinary run takes a sample, and `tox -e deep` all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import pytest


def sampled(every: int, found: Iterable[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """Mark all but one in `every` as deep, by their names, so that new ones change no other.

    A tuple is the values of several parameters.
    """
    return [
        pytest.param(
            *(one if isinstance(one, tuple) else (one,)),
            marks=pytest.mark.deep if crc32(name(one).encode()) % every else (),
        )
        for one in found
    ]
