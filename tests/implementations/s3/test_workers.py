"""Tests of the worker threads that streams of one filesystem share."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from fscontract.implementations.s3 import read_ahead
from fscontract.implementations.s3.read_ahead import Workers
from tests.limits import DEADLOCK


def test_stream_finalized_during_submit_does_not_deadlock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its finalizer may run at any allocation, in the thread that holds the lock."""
    shared, made = Workers(1), list[Future[None]]()

    def pool(*arguments: Any, **options: Any) -> ThreadPoolExecutor:
        shared.release()  # as the finalizer of the other stream does
        return ThreadPoolExecutor(*arguments, **options)

    monkeypatch.setattr(read_ahead, "ThreadPoolExecutor", pool)
    shared.retain()
    shared.retain()
    thread = threading.Thread(target=lambda: made.append(shared.submit(lambda: None)), daemon=True)
    thread.start()
    thread.join(DEADLOCK)
    assert [future.result(DEADLOCK) for future in made] == [None]
    shared.release()
