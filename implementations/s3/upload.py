"""Writing one object: in one request if it is small, in parts if it is not."""

from __future__ import annotations

import io
import threading
from contextlib import suppress
from typing import Any

from fscontract.contract.api.errors import PathIOException
from fscontract.implementations.s3.object_store import MOST_PARTS, ObjectStore

#: Seconds that the end of a file waits for its parts to be thrown away.
_PATIENCE = 10.0


class Upload(io.RawIOBase):
    """Collects up to `part_size` bytes, and sends them as a part when there are more.

    The object appears by `publish`; after `abandon` nothing of it is left. Both work on a closed
    upload, too. If `create`, there must be no object: FileAlreadyExistsException from `publish`.
    """

    def __init__(self, store: ObjectStore, key: str, part_size: int, create: bool) -> None:
        super().__init__()
        self._store = store
        self._key = key
        self._part_size = part_size
        self._create = create
        self._waiting = bytearray()
        self._upload: str | None = None
        self._etags: list[str] = []

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Take some of `data`; returns how many bytes.

        A part is sent before any are taken, so that a call which failed may be made again.
        """
        if self.closed:
            raise ValueError("the file is closed")
        if len(self._waiting) >= self._part_size:
            self._send()
        view = memoryview(data).cast("B")[: self._part_size - len(self._waiting)]
        self._waiting += view
        return len(view)

    def publish(self) -> None:
        """Make the object appear."""
        if self._upload is None:
            self._store.put(self._key, self._waiting, self._create)
        else:
            if self._waiting:
                self._send()
            self._store.complete(self._key, self._upload, self._etags, self._create)
        self._upload = None
        self._waiting = bytearray()

    def abandon(self) -> None:
        """Throw away what was sent; a failure to do so is nobody's concern."""
        upload, self._upload = self._upload, None
        self._waiting = bytearray()
        if upload is not None:
            # In a thread of its own, because a lost file ends wherever garbage is collected: this
            # thread may be within a connection pool that the request needs.
            work = threading.Thread(target=self._abort, args=(upload,), daemon=True)
            with suppress(RuntimeError):  # the interpreter ends
                work.start()
                work.join(_PATIENCE)

    def _abort(self, upload: str) -> None:
        with suppress(Exception):  # whatever it is, there is a reason already to be here
            self._store.abort(self._key, upload)

    def _send(self) -> None:
        number = len(self._etags) + 1
        if number > MOST_PARTS:
            raise PathIOException(
                f"/{self._key}",
                f"more than {MOST_PARTS} parts of {self._part_size} bytes: part_size is too small",
            )
        if self._upload is None:
            self._upload = self._store.begin(self._key)
        self._etags.append(self._store.part(self._key, self._upload, number, self._waiting))
        self._waiting = bytearray()
