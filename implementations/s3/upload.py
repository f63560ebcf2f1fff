"""Upload of one object: a small one in one request, others in parts."""

from __future__ import annotations

import io
import threading
from contextlib import suppress
from typing import Any

from fscontract.contract.api.errors import PathIOException
from fscontract.implementations.s3.object_store import MOST_PARTS, ObjectStore

#: Seconds that closing a file waits for its parts to be dropped.
_PATIENCE = 10.0


class Upload(io.RawIOBase):
    """Writer that buffers up to `part_size` bytes and uploads them as a part when more follow.

    `publish` makes the object visible; `abandon` drops all parts. Both may be called on a closed
    upload. If `create`, `publish` raises FileAlreadyExistsException if the object exists.
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
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Take some bytes of `data`; return their number.

        A full part is uploaded before any bytes are taken, so a failed call may be repeated.
        """
        if self.closed:
            raise ValueError("the file is closed")
        if len(self._waiting) >= self._part_size:
            self._send()
        view = memoryview(data).cast("B")[: self._part_size - len(self._waiting)]
        self._waiting += view
        return len(view)

    def publish(self) -> None:
        """Make the object visible."""
        if self._upload is None:
            self._store.put(self._key, self._waiting, self._create)
        else:
            if self._waiting:
                self._send()
            self._store.complete(self._key, self._upload, self._etags, self._create)
        self._upload = None
        self._waiting = bytearray()

    def abandon(self) -> None:
        """Drop uploaded parts; ignore failures."""
        upload, self._upload = self._upload, None
        self._waiting = bytearray()
        if upload is not None:
            # Use a separate thread: a lost file is finalized wherever garbage is collected, and
            # this thread may hold the lock of a connection pool that the request needs.
            work = threading.Thread(target=self._abort, args=(upload,), daemon=True)
            with suppress(RuntimeError):  # the interpreter is shutting down
                work.start()
                work.join(_PATIENCE)

    def _abort(self, upload: str) -> None:
        with suppress(Exception):  # any error, because the upload has failed already
            self._store.abort(self._key, upload)

    def _send(self) -> None:
        number = len(self._etags) + 1
        if number > MOST_PARTS:
            raise PathIOException(
                f"/{self._key}",
                f"part_size is too small: {self._part_size} bytes; an upload has at most "
                f"{MOST_PARTS} parts",
            )
        if self._upload is None:
            self._upload = self._store.begin(self._key)
        self._etags.append(self._store.part(self._key, self._upload, number, self._waiting))
        self._waiting = bytearray()
