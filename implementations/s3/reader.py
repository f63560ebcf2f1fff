"""What the streams of a filesystem share: its bucket, its source of bytes, its threads."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.implementations.options import OpenOptions
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.download import Target
from fscontract.implementations.s3.pin import Pin
from fscontract.implementations.s3.plans import plan_of
from fscontract.implementations.s3.source import RangeSource
from fscontract.implementations.s3.stream import S3InputStream
from fscontract.implementations.s3.traffic import Traffic
from fscontract.implementations.s3.transports.connect import ProcessSource
from fscontract.implementations.s3.workers import Workers


class Reader:
    """Opens the objects of one bucket; `connect` makes a source of bytes when one is needed."""

    def __init__(self, config: S3Config, connect: Callable[[], RangeSource]) -> None:
        self.config = config
        self._source = ProcessSource(connect)
        self._workers = Workers(config.connections)

    def open(self, path: str, options: OpenOptions) -> S3InputStream:
        """A stream over the object at a normalized path; nothing is asked of the store yet."""
        config = self.config
        pin = Pin(options.etag, getattr(options.status, "version_id", None), options.length)
        target = Target(config.bucket, path[1:], self._source, pin, Traffic(), config.retries)
        plan = plan_of(options, config.read_policy)
        return S3InputStream(path, target, plan, config, self._workers, options.split_end)

    def close(self) -> None:
        """Let go of connections; streams that are still open make new ones."""
        self._source.close()
