"""A stream over a file of the fake store."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from fscontract.contract.iostatistics import STORE_IO_REQUEST, STREAM_READ_TOTAL_BYTES
from fscontract.fakes.filesystem.client import Client, Connection, Sources
from fscontract.implementations.localstream import DEFAULT_BUFFER, LocalInputStream


class FakeInputStream(LocalInputStream):
    """Reads one version of a file, through the buffers of `LocalInputStream`.

    It survives what a client can survive: short and cut bodies, failures that pass, replicas that
    are corrupt or lost as long as there is a good one. Anything else is an OSError that leaves the
    position as it was: RemoteFileChangedException if the file is another one by now.
    """

    #: What it reads from.
    connection: ClassVar[type[Connection]] = Connection

    def __init__(
        self,
        path: str,
        client: Client,
        buffer_size: int = DEFAULT_BUFFER,
        declared: int | None = None,
        etag: str | None = None,
        footer: int = 0,
    ) -> None:
        self._sources = Sources()
        connect = partial(self.connection, client, path, self._sources)
        super().__init__(path, connect, buffer_size, declared, etag, footer)

    def io_statistics(self) -> dict[str, int]:
        """What the stream did; requests are those to the store, retries included."""
        counts = super().io_statistics()
        counts[STORE_IO_REQUEST] = self._sources.requests
        counts[STREAM_READ_TOTAL_BYTES] = self._sources.received
        return counts

    def seek_to_new_source(self, position: int) -> bool:
        """Take the block at `position` from a replica that this stream has not left before.

        False if there is none. What was read ahead is dropped. (Seekable.seekToNewSource)
        """
        if self._closed:
            self._reject_closed()
        if not self._sources.leave(position):
            return False
        self._release()
        return True
