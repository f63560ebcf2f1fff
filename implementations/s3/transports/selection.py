"""Choose the library that sends the requests of this process, and connect through it.

obstore hangs in a process that was forked after it had been used, and boto3 would share its
connections with the parent: so nothing that was made before a fork is used after it.
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
    """What this process has of the one it was forked from."""

    def __init__(self) -> None:
        #: Whether obstore was loaded before; it is unknown whether it was also used.
        self.loaded = False
        #: Reentrant, for what ends in the midst of a garbage collection may need it, too.
        self.lock = free_in_children(threading.RLock())

    def after(self) -> None:
        """Called in each new child."""
        self.loaded = self.loaded or "obstore" in sys.modules


_FORK = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_FORK.after)


def choose(config: S3Config) -> str:
    """The library for this process: "obstore" or "boto3".

    IllegalArgumentException if it is not installed, UnsupportedOperationException for obstore in
    a process forked after obstore was loaded.
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
    """What else this process asks of the store; errors as in `choose`."""
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
    """An object that `make` makes at its first use in each process."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._instances: dict[int, T] = {}  # by process; those of others are kept, and never used

    def get(self) -> T:
        """The object of this process."""
        process = os.getpid()
        instance = self._instances.get(process)
        if instance is None:
            with _FORK.lock:
                if process not in self._instances:
                    self._instances[process] = self._make()
                instance = self._instances[process]
        return instance

    def take(self) -> T | None:
        """The object of this process, if there is one; the next use makes another."""
        return self._instances.pop(os.getpid(), None)


def _missing(library: str) -> IllegalArgumentException:
    return IllegalArgumentException(f"S3 needs {library}, which is not installed: {INSTALL}")


def _forked() -> UnsupportedOperationException:
    return UnsupportedOperationException(
        "obstore was loaded before this process was forked, and would hang in it: use the "
        f"transport 'boto3' ({INSTALL}), or start processes with 'spawn' or 'forkserver'"
    )


def range_source(config: S3Config) -> RangeSource:
    """What the option `transport` asks for; errors as in `choose`."""
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
    """Uses `first`, and another source for keys and from stores that it can't cope with."""

    def __init__(self, first: RangeSource, other: Callable[[], RangeSource]) -> None:
        self._first = first
        self._other = other
        self._fallback: RangeSource | None = None
        self._left = False  # whether the first one is not asked any more

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """As the port has it."""
        requests = 1
        if not self._left:
            try:
                return self._first.get(request, cancel)
            except NotPartialException:
                requests = 2
                want = request.range
                self._left = want is not None and want.start >= 0  # else an oddity of the object
            except UnfitTransportException as error:
                requests += error.sent
        if self._fallback is None:
            self._fallback = self._other()
        body = self._fallback.get(request, cancel)
        body.requests = requests
        return body

    def close(self) -> None:
        """As the port has it."""
        for source in (self._first, self._fallback):
            if source is not None:
                source.close()


class ProcessSource(RangeSource):
    """Makes a source in each process that uses it: none survives a fork."""

    def __init__(self, make: Callable[[], RangeSource]) -> None:
        self._sources = PerProcess(make)

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """As the port has it."""
        return self._sources.get().get(request, cancel)

    def close(self) -> None:
        """As the port has it; later requests make another source."""
        source = self._sources.take()
        if source is not None:
            source.close()
