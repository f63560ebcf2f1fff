"""An S3 store with counted requests and planned faults: moto behind the fault proxy.

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

#: Limit in seconds of a fault's delay; longer than the timeout of a request.
_LONGEST = 1.5
#: S3 sends no checksum with a range, so that clients can't detect wrong bytes.
_UNSEEN = ("corrupt",)
#: Default options of the client.
_IMPATIENT = {"timeout": "0.75", "connect_timeout": "0.75", "retries": "1"}


def s3(options: Mapping[str, str]) -> Binding:
    """Return a moto S3 server behind a proxy that injects faults into reads.

    Options are those of the target s3. Requests time out after a second, so that delaying faults
    stay cheap. Raise TargetError.
    """
    return FaultyS3Binding(options)


class CountedOpener(StreamOpener):
    """Opens streams; reports the proxy's counts of requests instead of the streams' own."""

    def __init__(self, binding: S3Binding, filesystem: S3FileSystem, proxy: FaultProxy) -> None:
        super().__init__(binding, filesystem)
        self._proxy = proxy

    def counters(self, opened: Any) -> Mapping[str, int]:
        """Return the counters, with the proxy's count of GETs and HEADs of objects."""
        requests = self._proxy.requests
        methods = Counter(r.method for r in requests if is_object(r.method, r.target))
        return {
            **super().counters(opened),
            ACTION_HTTP_HEAD_REQUEST: methods["HEAD"],
            ACTION_HTTP_GET_REQUEST: methods["GET"],
            STORE_IO_REQUEST: methods["GET"],
        }


class FaultyS3Binding(S3Binding):
    """The binding to the target s3 through a proxy, which `dispose` closes."""

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
        """Implement `Binding.dispose`."""
        try:
            super().dispose()
        finally:
            self._proxy.close()
