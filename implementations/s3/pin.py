"""Which version of an object a stream reads, and whether an answer is of it."""

from __future__ import annotations

import threading

from fscontract.implementations.forks import free_in_children
from fscontract.implementations.s3.failures import Place, WrongAnswerException, changed
from fscontract.implementations.s3.source import Body


class Pin:
    """One version of an object, from the first answer on if it is not known before.

    `declared` is how long its reader says it is, which ends it; `total` how long it is.
    """

    def __init__(
        self, etag: str | None = None, version: str | None = None, declared: int | None = None
    ) -> None:
        self.etag = _plain(etag)
        self.version = version
        self.declared = declared
        self.total: int | None = None
        self._lock = free_in_children(threading.Lock())

    @property
    def length(self) -> int | None:
        """Where the reader's file ends, None if that is not known yet."""
        return self.total if self.declared is None else self.declared

    @property
    def if_match(self) -> str | None:
        """What to send as `If-Match`."""
        return None if self.etag is None else f'"{self.etag}"'

    def end(self, stop: int | None) -> int | None:
        """Where reading up to `stop` ends at the latest, None if nothing is known of it."""
        known = [n for n in (stop, self.declared, self.total) if n is not None]
        return min(known) if known else None

    def admit(self, place: Place, body: Body) -> None:
        """RemoteFileChangedException for an answer of another version; the first one decides."""
        self._compare(place, _plain(body.etag), body.total)

    def ends_at(self, place: Place, total: int) -> None:
        """The store says how long the object is; RemoteFileChangedException as in `admit`."""
        self._compare(place, None, total)

    def forget(self) -> None:
        """Take whatever version the next answer is of."""
        with self._lock:
            self.etag = self.version = self.total = self.declared = None

    def _compare(self, place: Place, etag: str | None, total: int | None) -> None:
        with self._lock:
            if self.etag is None:
                self.etag = etag
            elif etag is not None and etag != self.etag:
                raise changed(place, self.etag, etag)
            if self.total is None:
                self.total = total
            elif total is not None and total != self.total:
                raise changed(place, f"{self.etag} of {self.total} bytes", f"of {total} bytes")


def check_range(place: Place, body: Body, position: int) -> int:
    """How many bytes of a body come before `position`; WrongAnswerException if it is not in it."""
    if body.offset <= position < body.offset + body.length:
        return position - body.offset
    raise WrongAnswerException(
        place, f"the answer holds {body.length} bytes from {body.offset} on, not those asked"
    )


def _plain(etag: str | None) -> str | None:
    return etag.removeprefix("W/").strip('"') if etag else None
