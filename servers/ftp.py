"""FTP and web servers on loopback with the files of a directory."""

from __future__ import annotations

import functools
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USER, PASSWORD = "someone", "hunter2-hunter2"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def web_server(directory: Path) -> Iterator[str]:
    """Yield the URL of a web server."""
    handler = functools.partial(_Quiet, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def ftp_server(directory: Path) -> Iterator[str]:
    """Yield the URL, with user and password, of a writable FTP server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it uses asyncore
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler
        from pyftpdlib.servers import FTPServer

    # otherwise it writes to the terminal
    logging.getLogger("pyftpdlib").addHandler(logging.NullHandler())
    users = DummyAuthorizer()
    users.add_user(USER, PASSWORD, str(directory), perm="elradfmwMT")
    handler = type("Handler", (FTPHandler,), {"authorizer": users})
    server = FTPServer(("127.0.0.1", 0), handler)
    going = threading.Event()
    going.set()

    def serve() -> None:
        while going.is_set():
            server.ioloop.loop(timeout=0.01, blocking=False)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"ftp://{USER}:{PASSWORD}@127.0.0.1:{server.socket.getsockname()[1]}/"
    finally:
        going.clear()
        thread.join()
        server.close_all()
