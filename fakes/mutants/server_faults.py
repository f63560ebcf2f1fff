"""Mutants that mishandle the answers of misbehaving servers, and correct clients that differ."""

from __future__ import annotations

import itertools
from http.client import IncompleteRead
from typing import Any, ClassVar

from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.servers.http_client import HttpFile, Reply


@mutant("server.ignore-ranges", HttpFile._of_whole, faults={"ignore-ranges"})
def whole_is_range(self: HttpFile, reply: Reply, first: int, last: int) -> bytes:
    """An answer with status 200 counts as the requested range."""
    return reply.body[: last - first + 1]


@mutant("server.shift-ranges", HttpFile._of_part, faults={"shift-ranges"})
def content_range_unread(self: HttpFile, reply: Reply, first: int, last: int) -> bytes:
    """The start in Content-Range is not compared with the requested one."""
    return reply.body[: last - first + 1]


@mutant("server.omit-content-range", HttpFile._of_part, faults={"omit-content-range"})
def status_is_enough(self: HttpFile, reply: Reply, first: int, last: int) -> bytes:
    """Content-Range is compared if there is one."""
    if "content-range" not in reply.headers:
        return reply.body[: last - first + 1]
    return right(self)._of_part(reply, first, last)


class AsksForMore(HttpFile):
    """Requests whole blocks, so that ranges end past the end of the file."""

    def _fetch(self, first: int, last: int) -> bytes:
        return super()._fetch(first, max(last, first + 63))[: last - first + 1]


@mutant("server.refuse-past-end", faults={"refuse-past-end"})
class RefusedBlockIsEnd(AsksForMore):
    """Status 416 for a block that ends past the end is the end of the file."""

    def _refused(self, reply: Reply) -> bytes:
        return b"" if reply.status == 416 else super()._refused(reply)


@mutant("server.omit-length", HttpFile._look, faults={"omit-length"})
def unknown_is_empty(self: HttpFile) -> int:
    """A file without Content-Length is empty."""
    return int(self._ask("HEAD").headers.get("content-length", "0"))


class LenientLength(HttpFile):
    """Content-Range decides which bytes came, and Content-Length is not compared with it."""

    def _of_part(self, reply: Reply, first: int, last: int) -> bytes:
        if f"bytes {first}-" not in reply.headers.get("content-range", ""):
            raise OSError("another range")
        return self._decoded(reply)[: last - first + 1]


@mutant("server.chunk-bodies", faults={"chunk-bodies"})
class ChunksAreRange(LenientLength):
    """The sizes of chunks count as bytes of the range."""

    def _body(self, response: Any) -> bytes:
        if not response.chunked:
            return super()._body(response)
        raw: bytes = response.fp.read()
        response.close()
        return raw


@mutant("server.gzip-bodies", faults={"gzip-bodies"})
class NeverDecodes(LenientLength):
    """Compressed bytes are returned as they came."""

    def _decoded(self, reply: Reply) -> bytes:
        return reply.body


@mutant("server.cut-bodies", faults={"cut-bodies"})
class CutIsEnd(LenientLength):
    """A body that ends too early is complete, and the file ends there."""

    def _body(self, response: Any) -> bytes:
        try:
            return super()._body(response)
        except IncompleteRead as error:
            self._size = self._position + len(error.partial)
            return error.partial


@mutant("server.stall-bodies", faults={"stall-bodies"})
class StallIsZeros(LenientLength):
    """What is missing of a body that stops is zeros."""

    def _body(self, response: Any) -> bytes:
        try:
            return super()._body(response)
        except IncompleteRead as error:
            return error.partial + bytes(error.expected or 0)


@mutant("server.drip-bodies", faults={"drip-bodies"})
class FirstPieceIsAll(LenientLength):
    """The first piece of a body is all of it, and the file ends there."""

    def _body(self, response: Any) -> bytes:
        data: bytes = response.read1(1 << 16)
        response.close()
        if response.status == 206:
            self._size = self._position + len(data)
        return data


@mutant("server.redirect", HttpFile._ask, faults={"redirect"})
def redirection_is_file(
    self: HttpFile, method: str, headers: dict[str, str] | None = None
) -> Reply:
    """The answer that redirects is that of the file, which is empty."""
    reply = self._send(self._url, method, headers or {})
    return reply._replace(status=200) if reply.status == 307 else reply


@mutant("server.slow-down", HttpFile._refused, faults={"slow-down"})
def error_is_data(self: HttpFile, reply: Reply) -> bytes:
    """The text of an error is returned as bytes of the file."""
    return reply.body[: self._size - self._position]


@mutant("server.refuse-head", HttpFile._look, faults={"refuse-head"})
def refused_is_empty(self: HttpFile) -> int:
    """The length of the answer that refuses HEAD is the length of the file."""
    return int(self._ask("HEAD").headers.get("content-length", "0"))


@mutant("server.understate-length", HttpFile.readinto, faults={"understate-length"})
def begins_again(self: HttpFile, buffer: Any) -> int:
    """Past the told length, the file begins again."""
    if self._position < self._size:
        return right(self).readinto(buffer)
    data = self._whole()[: len(buffer)] if self._position < len(self._whole()) else b""
    buffer[: len(data)] = data
    self._position += len(data)
    return len(data)


class PartsOfAnyLength(HttpFile):
    """A part may be shorter than the requested range."""

    def _fetch(self, first: int, last: int) -> bytes:
        reply = self._ask("GET", {"Range": f"bytes={first}-{last}"})
        return b"" if reply.status == 416 else self._of_part(reply, first, last)


@mutant("server.overstate-length", faults={"overstate-length"})
class ZerosUpToLength(PartsOfAnyLength):
    """Zeros fill the file up to the told length."""

    def _fetch(self, first: int, last: int) -> bytes:
        return super()._fetch(first, last).ljust(last - first + 1, b"\0")


@mutant("server.change-etags", HttpFile._compare, faults={"change-etags"})
def new_version_begins(self: HttpFile, reply: Reply) -> None:
    """With a new ETag the file is read from its beginning."""
    if self._etag not in ("", reply.etag):
        self._position = 0
    self._etag = reply.etag


class NoConditions(HttpFile):
    """Sends no If-Match, and does not look at ETags."""

    def _fetch(self, first: int, last: int) -> bytes:
        self._etag = ""
        return super()._fetch(first, last)


@mutant("server.wrong-etags", faults={"wrong-etags"})
class CachesByEtag(NoConditions):
    """Bytes are cached by ETag, for all files."""

    cache: ClassVar[dict[tuple[str, int], bytes]] = {}

    def _of_part(self, reply: Reply, first: int, last: int) -> bytes:
        data = super()._of_part(reply, first, last)
        return self.cache.setdefault((reply.etag, first), data)[: len(data)]


@mutant("server.ignore-if-match", HttpFile._compare, faults={"ignore-if-match"})
def trusts_precondition(self: HttpFile, reply: Reply) -> None:
    """The ETag of an answer to a request with If-Match is not compared."""
    self._etag = self._etag or reply.etag


class ReadsWhole(HttpFile):
    """Reads the whole file when it is opened, and nothing later."""

    def __init__(self, url: str) -> None:
        self._content = b""
        super().__init__(url)

    def _look(self) -> int:
        self._content = self._whole()
        return len(self._content)

    def _fetch(self, first: int, last: int) -> bytes:
        return self._content[first : last + 1]


class LooksByRange(HttpFile):
    """Learns the length from Content-Range, and sends no HEAD."""

    def _look(self) -> int:
        reply = self._ask("GET", {"Range": "bytes=0-0"})
        told = reply.headers.get("content-range", "").rpartition("/")[2]
        return int(told) if reply.status == 206 and told.isdecimal() else len(self._whole())


class TriesAgain(HttpFile):
    """Sends each request up to three times."""

    def _fetch(self, first: int, last: int) -> bytes:
        for attempt in itertools.count(1):
            try:
                return super()._fetch(first, last)
            except OSError:
                if attempt == 3:
                    raise
        raise AssertionError


class OwnError(Exception):
    """An exception of a library, outside of OSError."""


class RaisesOwnErrors(HttpFile):
    """Raises exceptions that are not OSErrors, which is a matter of other clauses."""

    def _fetch(self, first: int, last: int) -> bytes:
        try:
            return super()._fetch(first, last)
        except OSError as error:
            raise OwnError(str(error)) from error


#: Correct clients.
VARIANTS: tuple[type[HttpFile], ...] = (
    *(AsksForMore, NoConditions, ReadsWhole, LooksByRange, TriesAgain, RaisesOwnErrors),
)
