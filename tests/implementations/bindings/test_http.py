"""Tests of programs on files of a web server, through fsspec."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import Kind, returned
from fscontract.implementations.bindings.fsspec import FsspecBinding

from .conftest import Calls

pytest.importorskip("aiohttp")
DATA = content(9000)


class Ranges(BaseHTTPRequestHandler):
    """Serves DATA at /d/file, with ranges."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        if self.path != "/d/file":
            self.send_error(404)
            return
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(match[1]), int(match[2])) if match else (0, len(DATA) - 1)
        part = DATA[first : last + 1]
        if match and not part:
            self.send_error(416)
            return
        self.send_response(206 if match else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        if match:
            end = first + len(part) - 1
            self.send_header("Content-Range", f"bytes {first}-{end}/{len(DATA)}")
        self.end_headers()
        if body:
            self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """The URL of a server of this test."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Ranges) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}/d/"
        made.shutdown()
        thread.join()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A local copy of the server's file."""
    path = tmp_path / "copy"
    path.write_bytes(DATA)
    return path


@pytest.mark.parametrize("absolute", [True, False])
def test_a_file_on_the_web_is_read(absolute: bool, server: str, copy: Path, run: Calls) -> None:
    """The file is a URL or relative to the target, and the binding counts as remote."""
    file = f"{server}file" if absolute else "file"
    binding = FsspecBinding.from_url(server, {}, file=file, content=copy)
    assert binding.remote
    assert "aiohttp" in binding.versions
    calls = (("seek", 8190), ("py_read", 5), ("pread", 3, 4, 0, 4), ("read_fully_all", 8998, 3))
    outcomes = run(binding, DATA, *calls)
    assert outcomes[:3] == [returned(None), returned(DATA[8190:8195]), returned(4, DATA[3:7])]
    assert outcomes[3].kind is Kind.EOF


def test_the_session_is_closed_in_the_end(server: str, copy: Path) -> None:
    """No connection outlives the binding."""
    binding = FsspecBinding.from_url(server, {}, file="file", content=copy)
    binding.prepare()
    session = binding.fs._session
    assert not session.closed
    binding.dispose()
    assert session.closed


def test_a_missing_file_is_one_line_without_secrets(server: str, copy: Path) -> None:
    """A signed URL is not shown."""
    binding = FsspecBinding.from_url(server, {}, file="nothing?sig=hunter2", content=copy)
    with pytest.raises(TargetError, match=r"\A[^\n]*can't find the file to read: .*\Z") as caught:
        binding.prepare()
    assert "hunter2" not in str(caught.value)


def test_missing_server_raises_target_error(copy: Path) -> None:
    """Streams that were never opened get no verdict."""
    url = "http://127.0.0.1:9/"
    binding = FsspecBinding.from_url(url, {}, file="file", content=copy)
    why = r"\A[^\n]*can't be reached: ClientConnectorError: Cannot connect[^\n]*\Z"
    with pytest.raises(TargetError, match=why):
        binding.prepare()


def test_an_option_that_the_client_lacks_is_named_without_its_value(
    server: str, copy: Path
) -> None:
    """fsspec reports a missing file instead."""
    binding = FsspecBinding.from_url(server, {"sesame": "hunter2"}, file="file", content=copy)
    with pytest.raises(TargetError, match=r"unexpected keyword argument 'sesame'") as caught:
        binding.prepare()
    binding.dispose()
    assert "hunter2" not in str(caught.value)


class Streams(Ranges):
    """Serves DATA only as a whole, and announces it."""

    def send_header(self, keyword: str, value: str) -> None:
        super().send_header(keyword, "none" if keyword == "Accept-Ranges" else value)


@pytest.fixture
def whole_files() -> Iterator[str]:
    """The URL of a server whose files are not seekable."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Streams) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}/d/"
        made.shutdown()
        thread.join()


def test_closed_file_without_a_connection_is_not_a_network_error(
    whole_files: str, copy: Path, run: Calls
) -> None:
    """fsspec's streamed file does not check for close, and uses the closed connection."""
    binding = FsspecBinding.from_url(whole_files, {}, file="file", content=copy)
    outcomes = run(binding, DATA, ("py_read", 2), ("close",), ("py_read", 9000))
    assert outcomes[0] == returned(DATA[:2])
    assert outcomes[2].raised
    assert outcomes[2].kind is not Kind.ENVIRONMENT
