"""From a configuration to the source of bytes of this process."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.failures import NotPartialException, UnfitTransportException
from fscontract.implementations.s3.source import Body, Cancellation, RangeSource, Request
from fscontract.implementations.s3.transports.choice import PerProcess, choose


def range_source(config: S3Config) -> RangeSource:
    """What the option `transport` asks for; errors as in `choose`."""
    if choose(config) == "boto3":
        return _boto3(config)
    from fscontract.implementations.s3.transports.obstore import ObstoreSource

    if config.transport == "auto" and find_spec("boto3") is not None:
        return Fallback(ObstoreSource(config), lambda: _boto3(config))
    return ObstoreSource(config)


def _boto3(config: S3Config) -> RangeSource:
    from fscontract.implementations.s3.transports.boto3 import Boto3Source

    return Boto3Source(config)


class Fallback(RangeSource):
    """Uses `first`, and another source for keys and from stores that it can't cope with."""

    def __init__(self, first: RangeSource, other: Callable[[], RangeSource]) -> None:
        self._first = first
        self._other = other
        self._made: RangeSource | None = None
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
        if self._made is None:
            self._made = self._other()
        body = self._made.get(request, cancel)
        body.requests = requests
        return body

    def close(self) -> None:
        """As the port has it."""
        for source in (self._first, self._made):
            if source is not None:
                source.close()


class ProcessSource(RangeSource):
    """Makes a source in each process that uses it: none survives a fork."""

    def __init__(self, make: Callable[[], RangeSource]) -> None:
        self._made = PerProcess(make)

    def get(self, request: Request, cancel: Cancellation) -> Body:
        """As the port has it."""
        return self._made.get().get(request, cancel)

    def close(self) -> None:
        """As the port has it; later requests make another source."""
        made = self._made.take()
        if made is not None:
            made.close()
