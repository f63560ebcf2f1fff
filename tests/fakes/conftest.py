"""A store behind a fault proxy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fscontract.fakes.fault_proxy import FaultProxy
from tests.fakes.stores import DATA, FILE, Store, storing


@pytest.fixture
def store() -> Iterator[Store]:
    """A store with one file."""
    with storing() as made:
        made.files[FILE] = DATA
        yield made


@pytest.fixture
def proxy(store: Store) -> Iterator[FaultProxy]:
    """A proxy before it."""
    with FaultProxy(store.url) as made:
        yield made
