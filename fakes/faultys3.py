"""An S3 store whose requests fail by a plan: moto behind the fault proxy."""

from __future__ import annotations

from collections.abc import Mapping

from fscontract.fakes.proxy.server import FaultProxy
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.targets import S3Binding, embedded_config, start

#: The most seconds that a fault takes; more than a request may.
_LONGEST = 1.5
#: S3 sends no checksum with a range, so nobody can know that its bytes are wrong.
_UNSEEN = ("corrupt",)
#: How to read, unless options say otherwise.
_IMPATIENT = {"timeout": "0.75", "connect_timeout": "0.75", "retries": "1"}


class FaultyS3Binding(S3Binding):
    """The binding to the target s3, through a proxy that ends with it."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {**_IMPATIENT, **options}
        server = start(given)
        try:
            self._proxy = FaultProxy(server.url, longest=_LONGEST, without=_UNSEEN).start()
            config = embedded_config(self._proxy.url, given)
            super().__init__(S3FileSystem.of(config), server)
        except BaseException:
            server.close()
            raise
        self.injector = self._proxy.injector

    def dispose(self) -> None:
        """As the port has it."""
        try:
            super().dispose()
        finally:
            self._proxy.close()
