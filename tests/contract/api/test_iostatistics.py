"""Meters read counters with Hadoop's names."""

from __future__ import annotations

import pytest

from fscontract.contract.api import iostatistics
from fscontract.contract.api.iostatistics import METERS, counters_of, meter, names_in

NAMES = {
    v for n, v in vars(iostatistics).items() if n[0] != "_" and n.isupper() and isinstance(v, str)
}


def test_meter_reads_the_largest_of_its_counters() -> None:
    """A status call and the request behind it are the same probe, counted at two levels."""
    counters = {"op_get_file_status": 2, "object_metadata_request": 3, "stream_read_bytes": 7}
    assert meter("probes", counters) == 3


def test_held_streams_are_those_opened_and_not_closed() -> None:
    assert meter("held", {"stream_read_opened": 3, "stream_read_closed": 2}) == 1
    assert meter("held", {"stream_read_opened": 3}) == 3


@pytest.mark.parametrize("name", METERS)
def test_meter_without_its_counters_reads_none(name: str) -> None:
    assert meter(name, {}) is None
    assert meter(name, {"stream_read_closed": 1}) is None


@pytest.mark.parametrize("name", METERS)
def test_meter_of_a_counter_at_zero_reads_zero(name: str) -> None:
    assert meter(name, {METERS[name][0][0]: 0}) == 0


def test_counters_of_meters_are_constants_of_the_module() -> None:
    used = {counter for parts in METERS.values() for part in parts for counter in part}
    assert used - NAMES == set()


@pytest.mark.parametrize("is_live", [False, True], ids=["at close", "at once"])
def test_requests_that_a_stream_and_its_filesystem_count_are_those_of_the_stream(
    is_live: bool,
) -> None:
    """As of S3A, whose filesystem adds them when a stream is closed; earlier streams count not."""
    get = "action_http_get_request"
    start = counters_of({get: 5, "stream_read_bytes": 9}, {})
    end = counters_of({get: 7 if is_live else 5, "stream_read_bytes": 9}, {get: 2})
    rise = {name: end[name] - start.get(name, 0) for name in names_in("requests", end)}
    assert meter("requests", rise) == 2
