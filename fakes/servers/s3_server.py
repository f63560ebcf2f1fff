"""An S3 server, moto, in this process, with named misbehaviour."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any, Final
from urllib.parse import quote

from werkzeug.test import EnvironBuilder
from werkzeug.wsgi import get_input_stream

from fscontract.contract.program.server_faults import S3
from fscontract.fakes.fault_proxy.relay import is_object
from fscontract.fakes.servers.exchange import ask
from fscontract.fakes.servers.server import MisbehavingServer
from fscontract.implementations.s3.moto_target import ACCESS_KEY, REGION, SECRET_KEY

_LISTING = ("list-type", "delimiter", "prefix")

#: Held while moto, which checks a precondition before it takes its lock, answers a write.
_WRITING = threading.Lock()


class S3Server(MisbehavingServer):
    """Serves one bucket in memory; the files below `directory` are its first objects.

    It accepts any credentials, and reads of its first objects without any. What clients write is
    not written to the directory. Faults strike requests for objects, and the ends of uploads.
    """

    place = S3

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        bucket: str | None = None,
        port: int = 0,
        **misbehaviour: bool | float,
    ) -> None:
        root = None if directory is None else Path(directory).resolve()
        if root is not None and not root.is_dir():
            raise ValueError(f"directory not found: {os.fspath(directory or '')!r}")
        super().__init__(_moto(), misbehaviour, port)
        #: Its bucket; buckets of other servers in this process are visible, too.
        self.bucket: Final = bucket or f"bucket-{token_hex(8)}"
        self.access_key, self.secret_key, self.region = ACCESS_KEY, SECRET_KEY, REGION
        try:
            self._fill(root)
        except BaseException:
            self.close()
            raise

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of AWS's libraries."""
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
        }

    @property
    def boto3_options(self) -> dict[str, str]:
        """The arguments of `boto3.client("s3", ...)`."""
        return {
            "endpoint_url": self.url,
            "aws_access_key_id": self.access_key,
            "aws_secret_access_key": self.secret_key,
            "region_name": self.region,
        }

    @property
    def storage_options(self) -> dict[str, str]:
        """The storage options of s3fs."""
        return {"endpoint_url": self.url, "key": self.access_key, "secret": self.secret_key}

    def write(self, key: str, data: bytes) -> None:
        """Make or replace an object without a request."""
        self._ask("PUT", key, data)

    def _fill(self, root: Path | None) -> None:
        """Make the bucket, and the objects of the files below a directory."""
        self._ask("PUT", "")
        if root is None:
            return
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.resolve().is_relative_to(root):
                self.write(path.relative_to(root).as_posix(), path.read_bytes())

    def operation(self, method: str, target: str, headers: Mapping[str, str]) -> str:
        """Implement `MisbehavingServer.operation`."""
        if is_object(method, target):
            return "head" if method == "HEAD" else "get"
        path, _, query = target.partition("?")
        names = {part.partition("=")[0] for part in query.split("&")}
        if path.count("/") < 2 or path.endswith("/"):
            return "list" if method == "GET" and names.intersection(_LISTING) else ""
        if method == "POST" and "uploadId" in names:
            return "complete"
        if method == "PUT":
            return "part" if "partNumber" in names else "put"
        return "delete" if method == "DELETE" else ""

    def close(self) -> None:
        """Implement `MisbehavingServer.close`; drop the bucket and its objects."""
        super().close()
        _drop(self.bucket)

    def _ask(self, method: str, key: str, data: bytes = b"") -> None:
        path = f"/{self.bucket}/{quote(key, errors='surrogateescape')}".rstrip("/")
        headers = [("x-amz-acl", "public-read")]  # also without a signature
        builder = EnvironBuilder(path, self.url, method=method, data=data, headers=headers)
        status, _, answer = ask(self._application, builder.get_environ())
        if status != 200:
            raise ValueError(f"{path}: {method} failed with {status}: {answer!r:.200}")


def _moto() -> Any:
    """Return moto's S3 as a WSGI application."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    moto = DomainDispatcherApplication(create_backend_app)

    def one_write_at_a_time(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return moto(environ, start_response)
        content = get_input_stream(environ).read()  # of a slow client: not while others wait
        received = {"wsgi.input": BytesIO(content), "CONTENT_LENGTH": str(len(content))}
        with _WRITING:
            return moto({**environ, **received}, start_response)

    return one_write_at_a_time


def _drop(bucket: str) -> None:
    from moto.s3.models import s3_backends

    for account in list(s3_backends.values()):
        for backend in list(account.values()):
            backend.buckets.pop(bucket, None)
            s3_backends.bucket_accounts.pop(bucket, None)
