"""Reading ahead: the windows of a run of reads, some of them fetched before they are asked for."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future

from fscontract.implementations.s3.download import NOTHING, Download, Target
from fscontract.implementations.s3.plans import Plan
from fscontract.implementations.s3.source import Cancellation
from fscontract.implementations.s3.workers import Workers


class Window:
    """One request's bytes, the first of them perhaps fetched ahead by a worker."""

    def __init__(self, download: Download) -> None:
        self._download = download
        self._chunks: deque[memoryview] = deque()
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self._working = False
        self._closed = False

    def begin(self, workers: Workers, hold: int) -> None:
        """Have a worker fetch up to `hold` bytes, and a chunk more."""
        self._working = True
        workers.submit(lambda: self._fetch(hold)).add_done_callback(self._done)

    def chunk(self) -> memoryview:
        """The next bytes, none at the end of the window; errors as in `Download.chunk`."""
        with self._changed:
            self._changed.wait_for(lambda: self._chunks or not self._working)
            if self._chunks:
                return self._chunks.popleft()
            error, self._error = self._error, None
        if error is not None:
            raise error
        return self._download.chunk()

    def close(self) -> None:
        """Give the connection back, as soon as no worker uses it."""
        with self._changed:
            self._closed = True
            self._chunks.clear()
            working = self._working
        if not working:
            self._download.close()

    def _fetch(self, hold: int) -> None:
        try:
            while hold > 0 and (chunk := self._download.chunk()):
                hold -= len(chunk)
                with self._changed:
                    self._chunks.append(chunk)
                    self._changed.notify_all()
        except Exception as error:  # whatever it is, it belongs to the reader
            self._error = error
            self._download.close()

    def _done(self, _: Future[None]) -> None:
        with self._changed:
            self._working = False
            self._changed.notify_all()
            closed = self._closed
        if closed:
            self._download.close()


class ReadAhead:
    """A run of reads: the bytes from a position on, each once, in order.

    `position` is where the next chunk begins, `asked` up to where requests have been made. The
    windows grow as the plan says, and the first one has `first` bytes. What comes after `enough` is
    not fetched before it is asked for. One thread at a time, but `close` may come from any.
    """

    def __init__(
        self,
        target: Target,
        plan: Plan,
        start: int,
        first: int,
        workers: Workers,
        enough: int | None = None,
    ) -> None:
        self.position = self.asked = start
        self._target = target
        self._plan = plan
        self._workers = workers
        self._enough = enough
        self._cancel = Cancellation()
        self._size = first
        self._last = first  # of the window made last
        #: From where on the next window is fetched while another one is read.
        self._steady = start + (0 if plan.growth == 1 else first // 2)
        self._windows: deque[Window] = deque()
        target.traffic.hold()
        self._held = True

    def chunk(self) -> memoryview:
        """The next bytes, none at the end of the file; errors as in `Download.chunk`.

        InterruptedIOException once it is closed.
        """
        while True:
            self._cancel.check()
            if not self._windows:
                if not self._more():
                    self._drop()
                    return NOTHING
                self._windows.append(self._window())
            chunk = self._windows[0].chunk()
            if chunk:
                self.position += len(chunk)
                return chunk
            self._windows.popleft().close()
            if self.position < self.asked and not self._windows:
                return NOTHING  # the end, which nothing had told before

    def look_ahead(self, position: int) -> None:
        """Fetch what comes next in the background, if the reader, who stands there, goes on."""
        plan = self._plan
        if not plan.ahead or position < self._steady or not self._held:
            return
        if self._enough is not None and self.asked >= self._enough:
            return
        while len(self._windows) <= plan.ahead and self._more():
            if self.asked - position > plan.ahead * max(plan.hold, self._last // 4):
                return  # what is asked for will last
            window = self._window()
            window.begin(self._workers, plan.hold)
            self._windows.append(window)

    def close(self) -> None:
        """Cancel what is under way, and give connections back; may be called again."""
        self._cancel.cancel()
        for window in list(self._windows):
            window.close()
        self._drop()

    def _drop(self) -> None:
        if self._held:
            self._held = False
            self._target.traffic.drop()

    def _more(self) -> bool:
        end = self._target.pin.end(None)
        return end is None or self.asked < end

    def _window(self) -> Window:
        start, end = self.asked, self._target.pin.end(None)
        self.asked = start + self._size
        if end is not None:
            self.asked = min(self.asked, end)
        self._last = self.asked - start
        self._size = min(self._size * self._plan.growth, max(self._plan.most, self._size))
        return Window(Download(self._target, start, self.asked, self._cancel))
