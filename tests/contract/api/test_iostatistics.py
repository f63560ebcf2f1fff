"""Meters are read off counters with Hadoop's names."""

from __future__ import annotations

import pytest

from fscontract.contract.api import iostatistics
from fscontract.contract.api.iostatistics import METERS, meter

NAMES = {v for n, v in vars(iostatistics).items() if n.isupper() and isinstance(v, str)}


def test_a_meter_reads_what_the_counter_that_rose_most_says() -> None:
    """A look at a status and the request behind it are the same probe, seen at two levels."""
    counters = {"op_get_file_status": 2, "object_metadata_request": 3, "stream_read_bytes": 7}
    assert meter("probes", counters) == 3


def test_what_is_held_is_what_was_opened_and_not_closed() -> None:
    """A counter that is taken away may be absent, too."""
    assert meter("held", {"stream_read_opened": 3, "stream_read_closed": 2}) == 1
    assert meter("held", {"stream_read_opened": 3}) == 3


@pytest.mark.parametrize("name", METERS)
def test_a_meter_without_a_counter_reads_nothing(name: str) -> None:
    """Nothing was counted, which is not 0."""
    assert meter(name, {}) is None
    assert meter(name, {"stream_read_closed": 1}) is None


@pytest.mark.parametrize("name", METERS)
def test_a_counter_at_0_is_there(name: str) -> None:
    """Nothing happened, and somebody counted."""
    assert meter(name, {METERS[name][0][0]: 0}) == 0


def test_meters_go_by_names_that_are_constants() -> None:
    """A name that is spelt in two places is misspelt in one of them."""
    used = {counter for parts in METERS.values() for part in parts for counter in part}
    assert used - NAMES == set()
