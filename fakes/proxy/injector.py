"""What a plan of faults means for the requests to an HTTP store."""

from __future__ import annotations

import threading
from collections.abc import Collection

from fscontract.contract.faults import FAULTS, Turn
from fscontract.contract.injector import PlanInjector

#: Parameters of requests that ask S3 for something else than the bytes of an object.
_OTHER_QUESTIONS = {
    *("acl", "attributes", "delimiter", "legal-hold", "list-type", "location", "policy"),
    *("prefix", "retention", "tagging", "torrent", "uploadId", "uploads", "versions"),
}


def is_object(method: str, target: str) -> bool:
    """Whether a request is for an object: GET or HEAD of `/bucket/key`, not a listing."""
    path, _, query = target.partition("?")
    asked = {part.partition("=")[0] for part in query.split("&")}
    key = path.count("/") > 1 and not path.endswith("/")
    return method in ("GET", "HEAD") and key and not asked & _OTHER_QUESTIONS


class ProxyInjector(PlanInjector):
    """Faults of an HTTP store. An object that is deleted or forbidden stays so until `detach`,
    or until it is written anew, but only for those who come through the proxy.

    `without` are kinds that can't be asked of the clients, such as "corrupt" if nobody sends
    checksums.
    """

    def __init__(self, without: Collection[str] = ()) -> None:
        possible = (n for n, kind in FAULTS.items() if "http" in kind.attaches)
        super().__init__(frozenset(possible) - frozenset(without))
        self._lock = threading.Lock()
        self._barred: dict[str, str] = {}  # paths, with "delete" or "revoke"

    def detach(self) -> None:
        """As the port has it."""
        super().detach()
        with self._lock:
            self._barred.clear()

    def bar(self, turn: Turn, target: str) -> None:
        """Make an object unavailable by the turn's fault."""
        assert turn.fault is not None
        path, kind = _path(target), turn.fault.kind
        with self._lock:
            known = self._barred.get(path)
            if known in ("delete", kind):
                return
            self._barred[path] = kind
        turn.took_effect()

    def written(self, target: str) -> None:
        """Make an object available again."""
        with self._lock:
            self._barred.pop(_path(target), None)

    def barred(self, target: str) -> str | None:
        """By which kind of fault an object is unavailable, if it is."""
        with self._lock:
            return self._barred.get(_path(target))


def _path(target: str) -> str:
    return target.partition("?")[0]
