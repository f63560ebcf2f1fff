"""Signed requests to an S3 server, without a client that repairs or hides responses."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from xml.etree import ElementTree

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

#: Seconds until a server that sends nothing counts as broken.
_PATIENCE = 60


@dataclass(frozen=True)
class Server:
    """A running S3 server, and the credentials of its clients; the bucket is in the path."""

    name: str
    url: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"

    @property
    def client_options(self) -> dict[str, str]:
        """The options of an S3FileSystem that lead to the server."""
        return {
            "endpoint": self.url,
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "region": self.region,
        }


@dataclass(frozen=True)
class Answer:
    """A response: `status` is 0 if there was none; `broken` if the connection ended early.

    Header names are in lower case.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    broken: bool = False

    @property
    def code(self) -> str:
        """Error code, such as NoSuchKey; empty if the response has none."""
        try:
            return ElementTree.fromstring(self.body).findtext("{*}Code") or ""
        except ElementTree.ParseError:
            return ""


def ask(
    server: Server,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """Return the whole response to a request, complete or not."""
    try:
        with opened(server, method, path, headers, body) as response:
            return _received(response)
    except (http.client.HTTPException, ConnectionError, TimeoutError):
        return Answer(0, {}, b"", broken=True)


@contextmanager
def opened(
    server: Server,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Iterator[http.client.HTTPResponse]:
    """Yield the response to a request on a new connection; `path` may have a query."""
    request = AWSRequest(method, server.url + path, dict(headers or {}), body)
    key = Credentials(server.access_key, server.secret_key)
    S3SigV4Auth(key, "s3", server.region).add_auth(request)
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=_PATIENCE)
    try:
        connection.request(method, path, body, {**request.headers, "Connection": "close"})
        with connection.getresponse() as response:
            yield response
    finally:
        connection.close()


def _received(response: http.client.HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    try:
        return Answer(response.status, headers, response.read())
    except http.client.IncompleteRead as error:
        return Answer(response.status, headers, error.partial, broken=True)
    except (ConnectionError, TimeoutError):
        return Answer(response.status, headers, b"", broken=True)
