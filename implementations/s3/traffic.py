"""What streams cost: requests and bytes."""

from __future__ import annotations

import threading

from fscontract.implementations.forks import free_in_children


class Traffic:
    """Counts of one stream, also while several threads read."""

    def __init__(self) -> None:
        self._lock = free_in_children(threading.Lock())
        self.requests = 0
        self.received = 0
        self.opened = 0
        self.closed = 0

    def request(self, count: int = 1) -> None:
        """So many requests were sent."""
        with self._lock:
            self.requests += count

    def bytes(self, count: int) -> None:
        """So many bytes of a body arrived."""
        with self._lock:
            self.received += count

    def hold(self) -> None:
        """A connection is kept from one call of the reader to the next."""
        with self._lock:
            self.opened += 1

    def drop(self) -> None:
        """One that was held is given back."""
        with self._lock:
            self.closed += 1
