"""Hadoop's filesystems on directories and servers of this test. All tests share one machine."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fscontract.contract.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.jvm import jars, machine

USER, PASSWORD = "someone", "hunter2-hunter2"
Make: TypeAlias = Callable[..., HadoopBinding]


@pytest.fixture(scope="session")
def java() -> Callable[[str], Any]:
    """Java's classes by name."""
    machine.start(jars.hadoop_jars())
    return machine.java_class


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes bindings to a directory of this test, by scheme; prepared, and disposed of again."""
    made: list[HadoopBinding] = []

    def of(scheme: str, **options: str) -> HadoopBinding:
        made.append(HadoopBinding.from_url(f"{scheme}://{tmp_path}", options))
        made[-1].prepare()
        return made[-1]

    yield of
    for binding in made:
        binding.dispose()


@pytest.fixture
def shown() -> Callable[..., list[str]]:
    """What calls such as `("seek", 3)` do on a new stream over `content`, as text."""

    def run(binding: HadoopBinding, content: bytes, *calls: tuple[object, ...]) -> list[str]:
        opened = binding.open(binding.create(content))
        steps = [Step(str(op), tuple(args)) for op, *args in calls]
        said = [str(binding.bind(step)(opened)) for step in steps]
        binding.bind(Step("close"))(opened)
        return said

    return run


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The URL of a web server that has the files of this test's directory."""
    handler = functools.partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def ftp(tmp_path: Path) -> Iterator[str]:
    """The URL, with user and password, of an FTP server that has this test's directory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it is made with asyncore
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler
        from pyftpdlib.servers import FTPServer

    users = DummyAuthorizer()
    users.add_user(USER, PASSWORD, str(tmp_path), perm="elradfmwMT")
    handler = type("Handler", (FTPHandler,), {"authorizer": users})
    server = FTPServer(("127.0.0.1", 0), handler)
    going = threading.Event()
    going.set()

    def serve() -> None:
        while going.is_set():
            server.serve_forever(timeout=0.01, blocking=False, handle_exit=False)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"ftp://{USER}:{PASSWORD}@127.0.0.1:{server.socket.getsockname()[1]}/"
    going.clear()
    thread.join()
    server.close_all()
