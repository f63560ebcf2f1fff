"""An injector for stores behind a client: files that a fault makes unavailable stay so."""

from __future__ import annotations

import threading

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.fault_firing import Turn


class BarringInjector(PlanInjector):
    """Makes files unavailable until `detach` or the next write, for its own clients only."""

    def __init__(self, kinds: frozenset[str]) -> None:
        super().__init__(kinds)
        self._lock = threading.Lock()
        self._barred: dict[str, str] = {}  # paths, with "delete" or "revoke"

    def detach(self) -> None:
        """Implement `Injector.detach`."""
        super().detach()
        with self._lock:
            self._barred.clear()

    def bar(self, turn: Turn, path: str) -> None:
        """Make a file unavailable by the turn's fault, of kind delete or revoke."""
        assert turn.fault is not None
        kind = turn.fault.kind
        with self._lock:
            known = self._barred.get(path)
            if known in ("delete", kind):
                return
            self._barred[path] = kind
        turn.took_effect()

    def written(self, path: str) -> None:
        """Make a file available again."""
        with self._lock:
            self._barred.pop(path, None)

    def barred(self, path: str) -> str | None:
        """Return the kind of the fault that makes a file unavailable, if any."""
        with self._lock:
            return self._barred.get(path)
