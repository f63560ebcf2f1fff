"""Which version of an object a stream reads, and whether an answer is of it."""

from __future__ import annotations

import threading

from fscontract.implementations.forks import free_in_children
from fscontract.implementations.s3.etags import header, plain, same
from fscontract.implementations.s3.failures import Place, WrongAnswerException, changed
from fscontract.implementations.s3.source import Body


class Pin:
    """One version of an object, from the first answer on if it is not known before.

    `declared` is how long its reader says it is, which ends it; `total` how long it is.
    """

    def __init__(
        self, etag: str | None = None, version: str | None = None, declared: int | None = None
    ) -> None:
        self.etag = plain(etag)
        self.version = version
        self.declared = declared
        self.total: int | None = None
        self._unnamed = False  # whether an answer without an ETag was admitted
        self._lock = free_in_children(threading.Lock())

    @property
    def length(self) -> int | None:
        """Where the reader's file ends, None if that is not known yet."""
        return self.total if self.declared is None else self.declared

    @property
    def if_match(self) -> str | None:
        """What to send as `If-Match`."""
        return header(self.etag)

    def end(self, stop: int | None) -> int | None:
        """Where reading up to `stop` ends at the latest, None if nothing is known of it."""
        known = [n for n in (stop, self.declared, self.total) if n is not None]
        return min(known) if known else None

    def admit(self, place: Place, body: Body) -> None:
        """Check that an answer is of this version; the first one decides.

        RemoteFileChangedException. WrongAnswerException if only some answers name an ETag.
        """
        etag = plain(body.etag)
        with self._lock:
            if etag is None and self.etag is not None:
                raise WrongAnswerException(place, "the answer lacks ETag")
            if etag is not None and self._unnamed:
                raise WrongAnswerException(place, "the answer has an ETag, unlike others before")
            if etag is not None and self.etag is not None and not same(etag, self.etag):
                raise changed(place, self.etag, etag)
            self._compare(place, body.total)
            self.etag = self.etag or etag
            self._unnamed = self.etag is None

    def ends_at(self, place: Place, total: int) -> None:
        """The store says how long the object is; RemoteFileChangedException as in `admit`."""
        with self._lock:
            self._compare(place, total)

    def forget(self) -> None:
        """Take whatever version the next answer is of."""
        with self._lock:
            self.etag = self.version = self.total = self.declared = None
            self._unnamed = False

    def _compare(self, place: Place, total: int | None) -> None:
        if self.total is None:
            self.total = total
        elif total is not None and total != self.total:
            raise changed(place, f"{self.etag} of {self.total} bytes", f"of {total} bytes")
