"""The named target of the S3 filesystem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from urllib.request import Request, urlopen

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.errors import IllegalArgumentException
from fscontract.implementations.bindings.scratch import failure, new_prefix
from fscontract.implementations.s3 import embedded
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.targets import ReferenceBinding

#: The bucket on the embedded server.
BUCKET = "fscontract"
_EMBEDDED = {
    "access_key": embedded.ACCESS_KEY,
    "secret_key": embedded.SECRET_KEY,
    "region": embedded.REGION,
    "path_style": "true",
}


class S3Binding(ReferenceBinding):
    """The binding to a bucket, perhaps on a server that ends with it."""

    default_profile: ClassVar[str] = "s3"

    def __init__(
        self, filesystem: S3FileSystem, server: embedded.EmbeddedServer | None = None
    ) -> None:
        super().__init__(filesystem, "s3")
        self.remote = True
        self._s3 = filesystem
        self._server = server

    def prepare(self) -> None:
        """Make the bucket of the embedded server, and name a directory; TargetError.

        It is there with its first file: some stores have no word for an empty one.
        """
        if self._server is not None:
            make_bucket(self._server.url)
        try:
            self._s3.get_file_status("/")
        except Exception as error:
            raise failure(self.name, "can't use the bucket", error) from error
        self._prefix = new_prefix("/")

    def dispose(self) -> None:
        """Remove the directory, and end connections and the server; TargetError."""
        try:
            super().dispose()
        finally:
            self._s3.close()
            if self._server is not None:
                self._server.close()


def s3(options: Mapping[str, str]) -> Binding:
    """A bucket: `bucket` and the other S3 options say which; without it, one on a moto server.

    TargetError if an option is wrong, or the server can't be started.
    """
    given = dict(options)
    bucket = given.pop("bucket", None)
    if bucket is not None:
        return S3Binding(S3FileSystem.of(config_of(bucket, given)))
    for name in ("endpoint", *_EMBEDDED):
        if name in given:
            raise TargetError(f"s3: option {name!r} needs the option 'bucket', too")
    server = start(given)
    return S3Binding(S3FileSystem.of(embedded_config(server.url, given)), server)


def start(options: Mapping[str, str]) -> embedded.EmbeddedServer:
    """A new embedded server, if these options fit; TargetError."""
    embedded_config("http://127.0.0.1", options)
    if not embedded.available():
        raise TargetError("s3: the embedded server needs moto: pip install 'fscontract[s3]'")
    try:
        return embedded.EmbeddedServer()
    except OSError as error:
        raise failure("s3", "no embedded server", error) from error


def make_bucket(url: str) -> None:
    """Make the bucket on an embedded server; TargetError."""
    request = Request(f"{url}/{BUCKET}", method="PUT")  # noqa: S310 - http, to this machine
    try:
        urlopen(request, timeout=30).close()  # noqa: S310
    except OSError as error:
        raise failure("s3", "can't make a bucket", error) from error


def embedded_config(url: str, options: Mapping[str, str]) -> S3Config:
    """The configuration for an embedded server at `url`; TargetError for a wrong option."""
    return config_of(BUCKET, {**options, **_EMBEDDED, "endpoint": url})


def config_of(bucket: str, options: Mapping[str, str]) -> S3Config:
    """The configuration of a bucket; TargetError for a wrong option."""
    try:
        return S3Config.of(bucket, options)
    except IllegalArgumentException as error:
        raise TargetError(f"s3: {error}") from error
