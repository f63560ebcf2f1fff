"""Selection of the transport library for this process.

obstore hangs in a process that was forked after its use, and boto3 would share its connections with
the parent. Therefore nothing that was created before a fork is used after it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Generic, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException, UnsupportedOperationException
from fscontract.implementations.filesystem_base import free_in_children
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import NotPartialException, UnfitTransportException
from fscontract.implementations.s3.object_reader import Body, Cancellation, RangeSource, Request
from fscontract.implementations.s3.object_store import Namespace

T = TypeVar("T")

INSTALL = "pip install 'fscontract[s3]'"


class _Fork:
    """State inherited by a forked process."""

    def __init__(self) -> None:
        #: True if obstore was loaded before the fork; it may not have been used.
        self.loaded = False
        #: Reentrant, because finalizers that run during a garbage collection may need it.
        self.lock = free_in_children(threading.RLock())

    def after(self) -> None:
        """Update the state in a new child process."""
        self.loaded = self.loaded or "obstore" in sys.modules


_FORK = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_FORK.after)


def choose(config: S3Config) -> str:
    """Return the library for this process: "obstore" or "boto3".

    Raise IllegalArgumentException if it is not installed, UnsupportedOperationException for obstore
    in a process forked after obstore was loaded.
    """
    transport = config.transport
    installed = [name for name in ("obstore", "boto3") if find_spec(name) is not None]
    if transport == "auto":
        usable = [name for name in installed if name == "boto3" or not _FORK.loaded]
        if not usable:
            raise _forked() if installed else _missing("obstore or boto3")
        return usable[0]
    if transport not in installed:
        raise _missing(transport)
    if transport == "obstore" and _FORK.loaded:
        raise _forked()
    return transport


def namespace(config: S3Config) -> Namespace:
    """Return the namespace for operations other than reads. Raises as `choose` does."""
    if choose(config) == "obstore":
        from fscontract.implementations.s3.transports.obstore import ObstoreNamespace

        return ObstoreNamespace(config, lambda: _boto3_namespace(config))
    return _boto3_namespace(config)


def _boto3_namespace(config: S3Config) -> Namespace:
    if find_spec("boto3") is None:
        raise _missing("boto3")
    from fscontract.implementations.s3.transports.boto3 import Boto3Namespace

    return Boto3Namespace(config)


class PerProcess(Generic[T]):
    """An object that `make` creates on first use in each process."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        # by process ID; objects of other processes are kept but never used
        self._instances: dict[int, T] = {}

    def get(self) -> T:
        """Return the object of this process."""
        process = os.getpid()
        instance = self._instances.get(process)
        if instance is None:
            with _FORK.lock:
                if process not in self._instances:
                    self._instances[process] = self._make()
                instance = self._instances[process]
        return instance

    def take(self) -> T | None:
        """Remove and return the object of this process, if any; the next use creates another."""
        return self._instances.pop(os.getpid(), None)


def _missing(library: str) -> IllegalArgumentException:
    return IllegalArgumentException(f"S3 requires {library}, which is not installed: {INSTALL}")


def _forked() -> UnsupportedOperationException:
    return UnsupportedOperationException(
        "obstore was loaded before this process was forked and would hang; use transport "
        f"'boto3' ({INSTALL}), or start processes with 'spawn' or 'forkserver'"
    )


def range_source(config: S3Config) -> RangeSource:
    """Return the source for the option `transport`. Raises as `choose` does."""
    if choose(config) == "boto3":
        return _boto3_source(config)
    from fscontract.implementations.s3.transports.obstore import ObstoreSource

    if config.transport == "auto" and find_spec("boto3") is not None:
        return Fallback(ObstoreSource(config), lambda: _boto3_source(config))
    return ObstoreSource(config)


def _boto3_source(config: S3Config) -> RangeSource:
    from fscontract.implementations.s3.transports.boto3 import Boto3Source

    return Boto3Source(config)


class Fallback(RangeSource):
    """Uses `first`, and another source for keys and stores that `first` does not support."""

    def __init__(self, first: RangeSource, other: Callable[[], RangeSource]) -> None:
        self._first = first
        self._other = other
        self._fallback: RangeSource | None = None
        self._left = False  # True once the first source was abandoned

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """See the base class."""
        requests = 1
        if not self._left:
            try:
                return self._first.get(request, cancel)
            except NotPartialException:
                requests = 2
                want = request.range
                # otherwise only this object is unusual
                self._left = want is not None and want.start >= 0
            except UnfitTransportException as error:
                requests += error.sent
        if self._fallback is None:
            self._fallback = self._other()
        body = self._fallback.get(request, cancel)
        body.requests = requests
        return body

    def close(self) -> None:
        """See the base class."""
        for source in (self._first, self._fallback):
            if source is not None:
                source.close()


class ProcessSource(RangeSource):
    """Creates a source in each process that uses it, because sources do not survive a fork."""

    def __init__(self, make: Callable[[], RangeSource]) -> None:
        self._sources = PerProcess(make)

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """See the base class."""
        return self._sources.get().get(request, cancel)

    def close(self) -> None:
        """See the base class; later requests create another source."""
        source = self._sources.take()
        if source is not None:
            source.close()
