"""Trying again: how often, and after how long a wait."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from fscontract.implementations.s3.failures import S3Exception
from fscontract.implementations.s3.source import Cancellation

T = TypeVar("T")

#: Seconds before the first retry; each further one waits up to twice as long.
BACKOFF = 0.05
#: The longest wait that the client chooses itself, and the longest that a store may ask for.
LONGEST_BACKOFF = 5.0
LONGEST_WAIT = 30.0


class Attempts:
    """What one call may still try."""

    def __init__(self, retries: int, cancel: Cancellation) -> None:
        self._retries = retries
        self._cancel = cancel
        self._failed = 0

    def failed(self, error: S3Exception) -> None:
        """Wait for the next attempt; raises `error` if there is none, or it would not help."""
        if not error.transient or self._failed >= self._retries or error.wait > LONGEST_WAIT:
            raise error
        pause = min(LONGEST_BACKOFF, BACKOFF * 2**self._failed) * random.uniform(0.5, 1.0)
        self._failed += 1
        self._cancel.wait(max(error.wait, pause))


def retrying(call: Callable[[], T], retries: int, cancel: Cancellation | None = None) -> T:
    """What `call` gives, or its last failure; InterruptedIOException once it is cancelled."""
    attempts = Attempts(retries, Cancellation() if cancel is None else cancel)
    while True:
        try:
            return call()
        except S3Exception as error:
            attempts.failed(error)
