"""Signed requests to an S3 server, with nothing in between that repairs or hides an answer."""

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

#: Seconds until a server that says nothing is taken for broken.
_PATIENCE = 60


@dataclass(frozen=True)
class Server:
    """A running S3 server, and what its clients have to say; buckets go into the path."""

    name: str
    url: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"


@dataclass(frozen=True)
class Answer:
    """What came back: `status` is 0 if nothing did; `broken` if the connection ended too early.

    Names of headers are small.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    broken: bool = False

    @property
    def code(self) -> str:
        """The code of an error, such as NoSuchKey; empty if the answer holds none."""
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
    """The whole answer to a request, however it ends."""
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
    """The head of the answer to a request on a connection of its own; `path` may have a query."""
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
