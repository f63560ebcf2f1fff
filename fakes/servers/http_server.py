"""An HTTP server of the files of a directory, with named misbehaviour."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.utils import send_file
from werkzeug.wrappers import Response

from fscontract.contract.program.server_faults import HTTP
from fscontract.fakes.servers.server import MisbehavingServer


class HttpServer(MisbehavingServer):
    """Serves the files below `directory` for reading, and lists directories in HTML.

    A link that leads out of the directory is not followed. Faults strike GET and HEAD of files.
    """

    place = HTTP

    def __init__(
        self, directory: str | os.PathLike[str], *, port: int = 0, **misbehaviour: bool | float
    ) -> None:
        root = Path(directory).resolve()
        if not root.is_dir():
            raise ValueError(f"directory not found: {os.fspath(directory)!r}")
        super().__init__(_Files(root), misbehaviour, port)
        self.directory = root

    def operation(self, method: str, target: str, headers: Mapping[str, str]) -> str:
        """Implement `MisbehavingServer.operation`."""
        if unquote(target.partition("?")[0]).endswith("/"):
            return ""
        return {"GET": "get", "HEAD": "head"}.get(method, "")


class _Files:
    """The files of a directory as a WSGI application."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            answer: Any = self._answer(environ)
        except HTTPException as error:
            answer = error
        response: Iterable[bytes] = answer(environ, start_response)
        return response

    def _answer(self, environ: dict[str, Any]) -> Response:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            raise MethodNotAllowed(["GET", "HEAD"])
        text = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "surrogateescape")
        path = self._inside(text)
        if path.is_dir():
            return _listing(path)
        if not path.is_file():
            raise NotFound
        status = path.stat()
        etag = f"{status.st_mtime_ns:x}-{status.st_size:x}"
        return send_file(path, environ, "application/octet-stream", etag=etag)

    def _inside(self, text: str) -> Path:
        """Return the path on disk; NotFound if it is not below the root."""
        try:
            path = (self._root / text.lstrip("/")).resolve()
        except (OSError, ValueError):  # a zero byte, or too many links
            raise NotFound from None
        if not path.is_relative_to(self._root):
            raise NotFound
        return path


def _listing(directory: Path) -> Response:
    names = sorted(f"{p.name}/" if p.is_dir() else p.name for p in directory.iterdir())
    links = (f'<a href="{quote(n, errors="surrogateescape")}">{_text(n)}</a>' for n in names)
    return Response("<br>\n".join(links), mimetype="text/html")


def _text(name: str) -> str:
    return escape(name.encode("utf-8", "replace").decode())
