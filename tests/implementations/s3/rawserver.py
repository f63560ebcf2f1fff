"""Small S3 server whose responses can be truncated, delayed and damaged byte by byte."""

from __future__ import annotations

import random
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.object_store import etag_of as joined
from tests.implementations.s3.memorysource import etag_of

#: Content of the object under test.
DATA = random.Random(1).randbytes(1000)
_QUOTE = '"'
_MODIFIED = "Mon, 02 Jan 2023 04:05:06 GMT"
_STAMP = "2023-01-02T04:05:06.000Z"
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_KEY = re.compile(rb"<Key>(.*?)</Key>")
_SECONDS = 0.05


class Asked(NamedTuple):
    """A request; header names are in lower case."""

    method: str
    key: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """The operation: get, head, list, put, begin, part, complete, delete or abort."""
        if self.method == "POST":
            return next(k for n, k in _POSTS.items() if n in self.query)
        if self.method == "GET":
            return "list" if "list-type" in self.query else "get"
        if self.method == "PUT":
            return "part" if "partNumber" in self.query else "put"
        return {"HEAD": "head", "DELETE": "abort"}[self.method]


_POSTS = {"uploads": "begin", "uploadId": "complete", "delete": "delete"}


class Answer(NamedTuple):
    """A status with its reason, headers in the order in which they are sent, and a body."""

    status: str
    headers: dict[str, str]
    body: bytes = b""

    def sorted(self, order: Sequence[str]) -> Answer:
        """Return the answer with the named headers first, in that order."""
        first = {name: self.headers[name] for name in order if name in self.headers}
        return self._replace(headers={**first, **self.headers})

    @property
    def head(self) -> bytes:
        """The bytes before the body."""
        lines = [f"HTTP/1.1 {self.status}", *(f"{n}: {v}" for n, v in self.headers.items())]
        return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("iso-8859-1")


#: Converts a response to the pieces to send and whether the connection stays open. A piece of None
#: is a pause.
Sent = tuple[Iterable[bytes | None], bool]
Spoil = Callable[[Asked, Answer], Sent]


def whole(_: Asked, answer: Answer) -> Sent:
    """Send the unchanged response."""
    return [answer.head + answer.body], True


def cut(count: int) -> Spoil:
    """Send the first `count` bytes and close the connection, unless that is the whole response."""

    def spoil(_: Asked, answer: Answer) -> Sent:
        sent = answer.head + answer.body
        return [sent[:count]], count >= len(sent)

    return spoil


class RawServer(socketserver.ThreadingTCPServer):
    """One in-memory bucket; `spoil` decides what is sent of each response."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.etags: dict[str, str] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.asked: list[Asked] = []
        self.spoil: Spoil = whole
        self._thread = threading.Thread(target=self.serve_forever, args=(_SECONDS,))

    @property
    def url(self) -> str:
        """Return the endpoint."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> RawServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def filesystem(self, transport: str, retries: int = 1) -> S3FileSystem:
        """Return the bucket as a filesystem."""
        options = {"transport": transport, "retries": retries, "timeout": 20, "anonymous": True}
        return S3FileSystem("bucket", endpoint=self.url, **options)

    def store(self, key: str, data: bytes, etag: str | None = None) -> None:
        """Put an object into the bucket."""
        self.objects[key], self.etags[key] = data, etag or etag_of(data)

    def answer(self, asked: Asked) -> Answer:
        """Execute the request and return the correct response."""
        answer: Answer = getattr(self, f"_{asked.kind}")(asked)
        return answer

    def _get(self, asked: Asked) -> Answer:
        data = self.objects.get(asked.key)
        if data is None:
            return _refusal("404 Not Found", "NoSuchKey")
        etag = self.etags[asked.key]
        if asked.headers.get("if-match", etag) != etag:
            return _refusal("412 Precondition Failed", "PreconditionFailed")
        named = {"ETag": etag, "Last-Modified": _MODIFIED}
        found = _RANGE.fullmatch(asked.headers.get("range", ""))
        if found is None:
            return Answer("200 OK", {"Content-Length": str(len(data)), **named}, data)
        if found[1]:
            start, stop = int(found[1]), min(int(found[2] or len(data)) + 1, len(data))
        else:
            start, stop = max(0, len(data) - int(found[2])), len(data)
        if start >= stop:
            return _refusal("416 Range Not Satisfiable", "InvalidRange")
        extent = f"bytes {start}-{stop - 1}/{len(data)}"
        sizes = {"Content-Length": str(stop - start), "Content-Range": extent}
        return Answer("206 Partial Content", {**sizes, **named}, data[start:stop])

    def _head(self, asked: Asked) -> Answer:
        return self._get(asked)._replace(body=b"")

    def _list(self, asked: Asked) -> Answer:
        prefix, after = asked.query.get("prefix", ""), asked.query.get("continuation-token", "")
        most = int(asked.query.get("max-keys", 1000))
        keys = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        more = len(keys) > most
        token = f"<NextContinuationToken>{keys[most - 1]}</NextContinuationToken>" if more else ""
        items = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_STAMP}</LastModified>"
            f"<ETag>{escape(self.etags[key])}</ETag>"
            f"<Size>{len(self.objects[key])}</Size></Contents>"
            for key in keys[:most]
        )
        truncated = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        return _xml("ListBucketResult", f"<Name>b</Name>{truncated}{token}{items}")

    def _put(self, asked: Asked) -> Answer:
        if asked.headers.get("if-none-match") == "*" and asked.key in self.objects:
            return _refusal("412 Precondition Failed", "PreconditionFailed")
        self.store(asked.key, asked.body)
        return Answer("200 OK", {"ETag": etag_of(asked.body), "Content-Length": "0"})

    def _begin(self, asked: Asked) -> Answer:
        name = f"upload-{len(self.uploads)}"
        self.uploads[name] = {}
        return _xml("InitiateMultipartUploadResult", f"<UploadId>{name}</UploadId>")

    def _part(self, asked: Asked) -> Answer:
        self.uploads[asked.query["uploadId"]][int(asked.query["partNumber"])] = asked.body
        return Answer("200 OK", {"ETag": etag_of(asked.body), "Content-Length": "0"})

    def _complete(self, asked: Asked) -> Answer:
        parts = self.uploads.pop(asked.query["uploadId"], None)
        if parts is None:
            return _refusal("404 Not Found", "NoSuchUpload")
        pieces = [parts[number] for number in sorted(parts)]
        etag = f'"{joined([etag_of(piece).strip(_QUOTE) for piece in pieces])}"'
        self.store(asked.key, b"".join(pieces), etag)
        return _xml("CompleteMultipartUploadResult", f"<ETag>{escape(etag)}</ETag>")

    def _delete(self, asked: Asked) -> Answer:
        for key in _KEY.findall(asked.body):
            self.objects.pop(key.decode(), None)
        return _xml("DeleteResult", "")

    def _abort(self, asked: Asked) -> Answer:
        self.uploads.pop(asked.query["uploadId"], None)
        return Answer("204 No Content", {})


class _Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    server: RawServer

    def handle(self) -> None:
        while (asked := self._read()) is not None:
            self.server.asked.append(asked)
            pieces, stays = self.server.spoil(asked, self.server.answer(asked))
            for piece in pieces:
                if piece is None:
                    time.sleep(0.001)
                elif piece:
                    self.connection.sendall(piece)
            if not stays:
                self.connection.shutdown(socket.SHUT_WR)
                return

    def _read(self) -> Asked | None:
        try:
            line = self.rfile.readline()
        except ConnectionResetError:
            return None
        if not line:
            return None
        method, target, _ = line.decode().split()
        headers: dict[str, str] = {}
        while (line := self.rfile.readline()).strip():
            name, _, value = line.decode("iso-8859-1").partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        url = urlsplit(target)
        query = {n: v[0] for n, v in parse_qs(url.query, keep_blank_values=True).items()}
        return Asked(method, unquote(url.path)[1:].partition("/")[2], query, headers, body)


def _xml(root: str, inner: str) -> Answer:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root}>{inner}</{root}>'
    headers = {"Content-Type": "application/xml", "Content-Length": str(len(text))}
    return Answer("200 OK", headers, text.encode())


def _refusal(status: str, code: str) -> Answer:
    answer = _xml("Error", f"<Code>{code}</Code><Message>{status}</Message>")
    return answer._replace(status=status)
