"""A file that is being written, and appears when it is closed."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import TracebackType


class PendingFile(io.BufferedWriter):
    """Writes to `raw`; `publish` makes the file appear, `abandon` throws it away.

    Closing publishes; leaving a `with` block by an exception, or losing the file without closing
    it, abandons. With `autocommit` off, closing does neither: `commit` or `discard` follow.
    `sync` is called between the last byte and the end of `raw`.
    """

    def __init__(
        self,
        raw: io.RawIOBase,
        publish: Callable[[], None],
        abandon: Callable[[], None],
        sync: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(raw, 1 << 16)
        self.autocommit = True
        self._publish = publish
        self._abandon = abandon
        self._sync = sync

    def close(self) -> None:
        """Write out the rest and publish; a failure to do so abandons the file."""
        if self.closed:
            return
        try:
            if self._sync is not None:
                self.flush()
                self._sync()
            super().close()
            if self.autocommit:
                self._publish()
        except BaseException:
            self._abandon()
            raise

    def commit(self) -> None:
        """Publish a file that was closed with `autocommit` off."""
        self._publish()

    def discard(self) -> None:
        """Close and throw the file away, also one closed with `autocommit` off."""
        pending = not self.closed or not self.autocommit
        self.raw.close()  # not self.close(): nothing more of this file is wanted
        if pending:
            self._abandon()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        self.discard()
