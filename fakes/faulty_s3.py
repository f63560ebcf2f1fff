"""An S3 store whose requests are counted, and fail by a plan: moto behind the fault proxy.

It is the target `s3 --faults`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fscontract.contract.api.iostatistics import (
    ACTION_HTTP_GET_REQUEST,
    ACTION_HTTP_HEAD_REQUEST,
    STORE_IO_REQUEST,
)
from fscontract.contract.binding import Binding
from fscontract.fakes.fault_proxy.relay import is_object
from fscontract.fakes.fault_proxy.server import FaultProxy
from fscontract.implementations.bindings.open_file import StreamOpener
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import S3Binding, embedded_config, start

#: The most seconds that a fault takes; more than a request may.
_LONGEST = 1.5
#: S3 sends no checksum with a range, so nobody can know that its bytes are wrong.
_UNSEEN = ("corrupt",)
#: How to read, unless options say otherwise.
_IMPATIENT = {"timeout": "0.75", "connect_timeout": "0.75", "retries": "1"}


def s3(options: Mapping[str, str]) -> Binding:
    """An S3 server of moto's behind a proxy, which lets reads fail by plan.

    Options are those of the target s3, which say how to read. A request is given up after a second,
    so that faults that take time don't take much. TargetError.
    """
    return FaultyS3Binding(options)


class CountedOpener(StreamOpener):
    """Opens streams, and tells of their requests what the proxy has seen, not what they say."""

    def __init__(self, binding: S3Binding, filesystem: S3FileSystem, proxy: FaultProxy) -> None:
        super().__init__(binding, filesystem)
        self._proxy = proxy

    def counters(self, opened: Any) -> Mapping[str, int]:
        """As the port has it; GETs and HEADs of objects are the proxy's count."""
        requests = self._proxy.requests
        methods = Counter(r.method for r in requests if is_object(r.method, r.target))
        return {
            **super().counters(opened),
            ACTION_HTTP_HEAD_REQUEST: methods["HEAD"],
            ACTION_HTTP_GET_REQUEST: methods["GET"],
            STORE_IO_REQUEST: methods["GET"],
        }


class FaultyS3Binding(S3Binding):
    """The binding to the target s3, through a proxy that ends with it."""

    def __init__(self, options: Mapping[str, str]) -> None:
        settings = {**_IMPATIENT, **options}
        server = start(settings)
        try:
            proxy = self._proxy = FaultProxy(server.url, longest=_LONGEST, without=_UNSEEN).start()
            filesystem = S3FileSystem.of(embedded_config(proxy.url, settings))
            super().__init__(filesystem, server)
        except BaseException:
            server.close()
            raise
        self.injector = proxy.injector
        self.opener = CountedOpener(self, filesystem, proxy)

    def dispose(self) -> None:
        """As the port has it."""
        try:
            super().dispose()
        finally:
            self._proxy.close()
