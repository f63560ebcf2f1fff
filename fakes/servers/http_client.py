"""A client of HTTP that satisfies the clauses of misbehaving servers; mutants break one each."""

from __future__ import annotations

import errno
import gzip
import io
import re
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_BLOCK = 64
_MOST_REDIRECTS = 5
_TIMEOUT = 10.0


class Reply(NamedTuple):
    """An answer: names of headers are in lower case, and `body` is complete and not decoded."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def etag(self) -> str:
        """The version of the file, "" if the server tells none."""
        return self.headers.get("etag", "")


class HttpFile(io.RawIOBase):
    """A file at `url`, read by ranges. Raise OSError for answers that it can't use."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._position = 0
        self._etag = ""
        self._size = self._look()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        self._checkClosed()
        return self._position

    def seek(self, offset: int, whence: int = 0) -> int:
        """Change the position; ValueError for a negative one."""
        self._checkClosed()
        if whence not in (0, 1, 2):
            raise ValueError(f"invalid whence: {whence}")
        position = offset + (0, self._position, self._size)[whence]
        if position < 0:
            raise ValueError(f"negative position: {position}")
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; 0 at the end."""
        self._checkClosed()
        view = memoryview(buffer).cast("B")
        end = min(self._position + len(view), self._size)
        if self._position >= end:
            return 0
        data = self._fetch(self._position, end - 1)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def _look(self) -> int:
        """Return the file's length."""
        reply = self._ask("HEAD")
        length = reply.headers.get("content-length", "")
        if reply.status == 200 and length.isdecimal():
            return int(length)
        return len(self._whole())

    def _whole(self) -> bytes:
        """Return the content of the file."""
        reply = self._ask("GET")
        if reply.status != 200:
            raise _failed(reply)
        return self._decoded(reply)

    def _fetch(self, first: int, last: int) -> bytes:
        """Return the bytes from the first to the last; fewer only at the end of the file."""
        condition = {"If-Match": self._etag} if self._etag else {}
        reply = self._ask("GET", {"Range": f"bytes={first}-{last}", **condition})
        if reply.status == 200:
            return self._of_whole(reply, first, last)
        if reply.status != 206:
            return self._refused(reply)
        return self._of_part(reply, first, last)

    def _of_whole(self, reply: Reply, first: int, last: int) -> bytes:
        return self._decoded(reply)[first : last + 1]

    def _of_part(self, reply: Reply, first: int, last: int) -> bytes:
        match = _CONTENT_RANGE.fullmatch(reply.headers.get("content-range", ""))
        if match is None or int(match[1]) != first or int(match[2]) > last:
            raise OSError(errno.EIO, "the answer is another range")
        data = self._decoded(reply)
        if len(data) != int(match[2]) - first + 1:
            raise OSError(errno.EIO, "the answer has another length than its range")
        self._compare(reply)
        return data

    def _compare(self, reply: Reply) -> None:
        """Check that the answer is of the version that was read before."""
        if self._etag and reply.etag and reply.etag != self._etag:
            raise OSError(errno.ESTALE, "the file has changed")
        self._etag = self._etag or reply.etag

    def _refused(self, reply: Reply) -> bytes:
        raise _failed(reply)

    def _decoded(self, reply: Reply) -> bytes:
        if reply.headers.get("content-encoding") != "gzip":
            return reply.body
        try:
            return gzip.decompress(reply.body)
        except (EOFError, ValueError) as error:
            raise OSError(errno.EIO, "the body is not gzip") from error

    def _ask(self, method: str, headers: dict[str, str] | None = None) -> Reply:
        """Return the answer of a request, after redirections."""
        url = self._url
        for _ in range(_MOST_REDIRECTS):
            reply = self._send(url, method, headers or {})
            if not 300 <= reply.status < 400:
                return reply
            url = self._redirected(url, reply)
        raise OSError(errno.ELOOP, "too many redirections")

    def _redirected(self, url: str, reply: Reply) -> str:
        return urljoin(url, reply.headers.get("location", ""))

    def _send(self, url: str, method: str, headers: dict[str, str]) -> Reply:
        """Return the answer of a server."""
        parts = urlsplit(url)
        connection = HTTPConnection(parts.netloc, timeout=_TIMEOUT)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        try:
            connection.request(method, target, headers=headers)
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, named, self._body(response))
        except HTTPException as error:
            raise OSError(errno.EIO, f"the answer is broken: {error}") from error
        finally:
            connection.close()

    def _body(self, response: Any) -> bytes:
        """Return the whole body. Raise HTTPException if it ends too early."""
        data: bytes = response.read()
        return data


def _failed(reply: Reply) -> OSError:
    return OSError(errno.EIO, f"status {reply.status}")


def opened(part: type[HttpFile], url: str) -> io.BufferedReader:
    """Return a buffered file at `url`."""
    return io.BufferedReader(part(url), _BLOCK)
