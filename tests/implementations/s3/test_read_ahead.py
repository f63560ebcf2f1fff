"""Tests of read-ahead windows."""

from __future__ import annotations

import threading

import pytest

from fscontract.implementations.s3.object_reader import Cancellation, RequestCounters
from fscontract.implementations.s3.range_download import Download, Target, VersionPin
from fscontract.implementations.s3.read_ahead import Window, Workers
from tests.implementations.s3.memorysource import BUCKET, MemoryBody, MemorySource
from tests.limits import DEADLOCK


def test_window_closed_during_a_read_is_released_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if the worker has fetched all its bytes and saw no cancellation."""
    source, workers = MemorySource(piece=100), Workers(1)
    source.objects["key"] = bytes(100_000)
    target = Target(BUCKET, "key", source, VersionPin(), RequestCounters(), retries=0)
    begun, may_go_on, read = threading.Event(), threading.Event(), MemoryBody.chunk

    def slow(body: MemoryBody) -> memoryview:
        begun.set()
        may_go_on.wait(DEADLOCK)
        return read(body)

    monkeypatch.setattr(MemoryBody, "chunk", slow)
    workers.retain()
    window = Window(Download(target, 0, 90_000, Cancellation()))
    window.begin(workers, 1)
    assert begun.wait(DEADLOCK)
    window.close()
    assert not source.bodies[0].closed
    may_go_on.set()
    workers.release()
    assert source.bodies[0].closed
