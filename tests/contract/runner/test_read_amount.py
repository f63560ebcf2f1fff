"""The time that a read takes decides the length of the large file."""

from __future__ import annotations

from fscontract import check
from tests.unusual import streams


def test_a_stream_with_a_byte_at_a_time_does_not_hang_on_the_large_file() -> None:
    result = check(streams.target(streams.OneByteAtATime), clauses=["read-fully.data"])
    assert result.conforms
