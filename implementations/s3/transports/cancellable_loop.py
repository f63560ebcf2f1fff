"""Awaitables of obstore without an event loop: the thread that has a result hands it over.

obstore asks the running event loop for a future, and a thread of its own has the loop complete it.
In an event loop that costs two more changes of threads for each request, and the thread of obstore
lets go of the interpreter in the midst of it: if the interpreter ends just then, CPython before
3.14 ends that thread, which aborts the process. Here one object stands for both, loop and future.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from fscontract.implementations.s3.object_reader import Cancellation, interrupted

#: Seconds that the end of the interpreter waits for threads of obstore.
_PATIENCE = 5.0
_LOOK = 0.001


class Forked(Exception):
    """What would end the call stayed behind in the process that this one was forked from."""


class Failed:
    """An error as a value: it knows more than others may."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Call:
    """One awaitable: the running event loop while it is made, then its future.

    `left` is set when no thread but the reader's will enter the interpreter for it any more.
    """

    def __init__(self, owner: Calls) -> None:
        self.owner = owner
        self.cancelling = False
        self.left = False
        self.outcome: Any = None
        self._decided = threading.Lock()  # taken by whoever says how it ends
        self._ready = threading.Lock()
        self._ready.acquire()
        self._callbacks: list[Callable[[Any], object]] = []
        self._canceller = 0
        self._completing = False

    def wait(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        return self._ready.acquire(timeout=seconds)

    def cancel(self) -> None:
        """End the request; nothing happens if it has ended."""
        if self._decided.acquire(blocking=False):
            self._canceller = threading.get_ident()
            self.cancelling = True
            for call in self._callbacks:
                call(self)
            self._ready.release()

    def _decide(self, outcome: Any) -> None:
        if self._decided.acquire(blocking=False):
            self.outcome = outcome
            self._callbacks.clear()
            self._ready.release()

    # What is asked of an event loop.

    def create_future(self) -> Call:
        """The future of the one awaitable."""
        return self

    def call_soon_threadsafe(
        self, call: Callable[..., object], *arguments: Any, context: Any = None
    ) -> None:
        """Call it in this thread, one of obstore's, which is not heard of again then."""
        self._completing = True
        try:
            call(*arguments)
        finally:
            # Last, and no call: only after a call could another thread get its turn before this
            # one has left the interpreter.
            self.left = True

    # What is asked of a future.

    def add_done_callback(self, call: Callable[[Any], object], *, context: Any = None) -> None:
        """Call it on cancellation; that is all that obstore wants it for."""
        self._callbacks.append(call)

    def cancelled(self) -> bool:
        """Whether it was cancelled; a thread of obstore leaves when it hears so."""
        if self.cancelling and not self._completing and threading.get_ident() != self._canceller:
            self.left = True
        return self.cancelling

    def done(self) -> bool:
        """Whether it was cancelled, or has an outcome."""
        return self._decided.locked()

    def set_result(self, result: Any) -> None:
        """It ends well."""
        self._decide(result)

    def set_exception(self, error: BaseException) -> None:
        """It ends with an error."""
        self._decide(Failed(error))


class _UnderWay:
    """The calls of this process for which a thread of obstore may yet enter the interpreter."""

    def __init__(self) -> None:
        self._calls: set[Call] = set()
        self._ending = False

    def add(self, call: Call) -> None:
        """Note a call; InterruptedIOException if it can't end before the interpreter does."""
        if self._ending and threading.current_thread() is not threading.main_thread():
            raise interrupted()
        self._calls.add(call)

    def returned(self, call: Call) -> None:
        """The reader has what it waited for; most often the thread that brought it has left."""
        if self._ending:
            self._wait()
        if call.left:
            self._calls.discard(call)
        else:
            self._calls.difference_update([one for one in list(self._calls) if one.left])

    def cancel(self, owner: Calls | None = None) -> None:
        """Cancel the calls of that owner, or all."""
        for call in list(self._calls):
            if owner in (None, call.owner):
                call.cancel()

    def end(self) -> None:
        """Cancel all calls, and wait until threads have left; later ones are waited for at once."""
        self._ending = True
        self.cancel()
        self._wait()

    def _wait(self) -> None:
        latest = time.monotonic() + _PATIENCE
        while not all(call.left for call in list(self._calls)) and time.monotonic() < latest:
            time.sleep(_LOOK)

    def forked(self) -> None:
        """The threads stayed behind."""
        self._calls = set()


_UNDER_WAY = _UnderWay()
atexit.register(_UNDER_WAY.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_UNDER_WAY.forked)


class Calls:
    """Waits for awaitables of obstore, in any number of threads, until they are cancelled."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def begin(self, begin: Callable[[], object]) -> Call:
        """Have the awaitable that `begin` makes begin; somebody has to wait for it, or drop it.

        Forked in a child of the process that made this.
        """
        if os.getpid() != self._process:
            raise Forked
        call = Call(self)
        _UNDER_WAY.add(call)
        _begin(begin, call)
        return call

    def wait(self, call: Call, cancel: Cancellation, seconds: float) -> Any:
        """What the awaitable gives, or Failed with its error.

        TimeoutError after so long, InterruptedIOException if it is cancelled; Forked in a child of
        the process that made this.
        """
        if os.getpid() != self._process:
            raise Forked
        try:
            with cancel.calling(call.cancel):
                if not call.wait(seconds):
                    raise TimeoutError
        finally:
            self.drop(call)
        if call.cancelling:
            raise interrupted()
        outcome, call.outcome = call.outcome, None  # obstore lets go of the call much later
        return outcome

    def drop(self, call: Call) -> None:
        """End a call, unless it has ended: nobody waits for it any more. Does nothing in a child
        of the process that made this."""
        if os.getpid() == self._process:
            call.cancel()
            _UNDER_WAY.returned(call)

    def run(self, begin: Callable[[], object], cancel: Cancellation, seconds: float) -> Any:
        """Begin, and wait."""
        return self.wait(self.begin(begin), cancel, seconds)

    def stop(self) -> None:
        """Cancel what is under way; later calls are none the worse."""
        if os.getpid() == self._process:
            _UNDER_WAY.cancel(self)


def _begin(begin: Callable[[], object], call: Call) -> None:
    """Make the awaitable, with the call as the running event loop of this thread."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(call)  # type: ignore[arg-type]
    try:
        begin()
    except BaseException as error:
        call.left = True  # there is none
        if not isinstance(error, Exception):
            raise
        call.set_exception(error)
    finally:
        asyncio._set_running_loop(outer)
