"""Tests of the HTTP server: what it serves, and each way in which it misbehaves."""

from __future__ import annotations

import gzip
import http.client
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.server_faults import HTTP, kinds_at
from fscontract.fakes.servers import HttpServer
from tests.limits import DEADLOCK

DATA = bytes(range(5, 105))
Start = Callable[..., HttpServer]


class Answer(NamedTuple):
    """What a client got: `body` is as far as it came, `whole` says whether that is all."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes
    whole: bool
    version: int


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with a file, a directory below it, and links."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "file").write_bytes(DATA)
    (root / "empty").write_bytes(b"")
    (root / "sub" / "a <b>&").write_bytes(b"x")
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "up").symlink_to(tmp_path)
    return root


@pytest.fixture
def start(directory: Path, http_server: Start) -> Start:
    """Return a function that starts a server of the directory."""
    return lambda **options: http_server(directory, **options)


def ask(server: HttpServer, path: str = "/file", method: str = "GET", **headers: str) -> Answer:
    """Send one request, without following redirects."""
    connection = http.client.HTTPConnection(server.address, timeout=DEADLOCK)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        response = connection.getresponse()
        try:
            body, whole = response.read(), True
        except http.client.IncompleteRead as error:
            body, whole = error.partial, False
        return Answer(response.status, response.headers, body, whole, response.version)
    finally:
        connection.close()


# Without misbehaviour -------------------------------------------------------------------------


def test_file_and_its_ranges_are_served(start: Start) -> None:
    server = start()
    whole = ask(server)
    assert (whole.status, whole.body, whole.headers["Accept-Ranges"]) == (200, DATA, "bytes")
    part = ask(server, Range="bytes=3-7")
    assert (part.status, part.body) == (206, DATA[3:8])
    assert part.headers["Content-Range"] == "bytes 3-7/100"
    assert ask(server, Range="bytes=90-200").body == DATA[90:]
    assert ask(server, Range="bytes=-5").body == DATA[-5:]
    past = ask(server, Range="bytes=100-")
    assert (past.status, past.headers["Content-Range"]) == (416, "bytes */100")
    head = ask(server, method="HEAD")
    assert (head.status, head.headers["Content-Length"], head.body) == (200, "100", b"")


def test_etag_is_that_of_the_content(start: Start, directory: Path) -> None:
    server = start()
    etag = ask(server).headers["ETag"]
    assert ask(server, method="HEAD").headers["ETag"] == etag
    assert ask(server, If_Match=etag).status == 200
    assert ask(server, If_None_Match=etag).status == 304
    (directory / "file").write_bytes(DATA[1:])
    assert ask(server).headers["ETag"] != etag
    assert ask(server, If_Match=etag).status == 412


def test_directory_is_listed_with_links(start: Start) -> None:
    server = start()
    assert ask(server, "/").body.count(b"<a href=") == 5
    listed = ask(server, "/sub/").body
    assert listed == b'<a href="a%20%3Cb%3E%26">a &lt;b&gt;&amp;</a>'
    assert ask(server, "/sub/a%20%3Cb%3E%26").body == b"x"


@pytest.mark.parametrize(
    "path",
    [
        *("/../secret", "/%2e%2e/secret", "/sub/../../secret", "//../secret", "/out", "/up/secret"),
        *("/none", "/file%00", "/..%2fsecret", "/sub/%2e%2e/%2e%2e/secret"),
    ],
)
def test_path_out_of_the_directory_is_not_found(start: Start, path: str) -> None:
    found = ask(start(), path)
    assert found.status == 404
    assert b"secret\n" not in found.body


def test_server_listens_on_loopback_for_reading_only(start: Start) -> None:
    server = start()
    assert server.url == f"http://127.0.0.1:{server.address.rpartition(':')[2]}"
    for method in ("PUT", "POST", "DELETE"):
        assert ask(server, method=method).status == 405


def test_options_are_checked(directory: Path) -> None:
    with pytest.raises(ValueError, match=r"'ignore_range' .*: ignore-ranges,"):
        HttpServer(directory, ignore_range=True)
    with pytest.raises(ValueError, match="unknown misbehaviour 'errors_in_200'"):
        HttpServer(directory, errors_in_200=True)
    with pytest.raises(ValueError, match="gzip_bodies must be True or False, got 3"):
        HttpServer(directory, gzip_bodies=3)
    with pytest.raises(ValueError, match="seconds must be a number"):
        HttpServer(directory, stall_bodies=-1)
    with pytest.raises(ValueError, match="directory not found"):
        HttpServer(directory / "none")
    with HttpServer(directory, gzip_bodies=False) as server:
        assert not server.misbehaviour


# Each misbehaviour ----------------------------------------------------------------------------


def _ignore_ranges(s: HttpServer) -> None:
    assert ask(s, Range="bytes=3-7")[::2] == (200, DATA, 11)


def _shift_ranges(s: HttpServer) -> None:
    found = ask(s, Range="bytes=3-7")
    assert (found.body, found.headers["Content-Range"]) == (DATA[2:7], "bytes 2-6/100")
    assert ask(s, Range="bytes=0-4").body == DATA[1:6]


def _omit_content_range(s: HttpServer) -> None:
    found = ask(s, Range="bytes=3-7")
    assert (found.status, found.body, found.headers["Content-Range"]) == (206, DATA, None)


def _omit_length(s: HttpServer) -> None:
    for method in ("GET", "HEAD"):
        found = ask(s, method=method)
        assert found.headers["Content-Length"] is found.headers["Transfer-Encoding"] is None
    assert (ask(s).body, found.version) == (DATA, 10)


def _chunk_bodies(s: HttpServer) -> None:
    found = ask(s)
    assert (found.body, found.headers["Transfer-Encoding"]) == (DATA, "chunked")
    assert found.headers["Content-Length"] is None


def _gzip_bodies(s: HttpServer) -> None:
    found = ask(s, Range="bytes=3-7")
    assert (found.headers["Content-Encoding"], found.status) == ("gzip", 206)
    assert gzip.decompress(found.body) == DATA[3:8]


def _redirect(s: HttpServer) -> None:
    found = ask(s)
    assert (found.status, found.headers["Location"]) == (307, "/file?redirected")
    assert ask(s, found.headers["Location"]).body == DATA


def _refuse_past_end(s: HttpServer) -> None:
    assert ask(s, Range="bytes=90-99").status == 206
    found = ask(s, Range="bytes=90-100")
    assert (found.status, found.headers["Content-Range"]) == (416, "bytes */100")


def _refuse_head(s: HttpServer) -> None:
    assert (ask(s, method="HEAD").status, ask(s).status) == (405, 200)


def _understate_length(s: HttpServer) -> None:
    assert ask(s, method="HEAD").headers["Content-Length"] == "50"
    assert ask(s).body == DATA


def _overstate_length(s: HttpServer) -> None:
    assert ask(s, method="HEAD").headers["Content-Length"] == "201"
    assert ask(s).body == DATA


def _change_etags(s: HttpServer) -> None:
    assert len({ask(s).headers["ETag"] for _ in range(3)}) == 3


def _ignore_if_match(s: HttpServer) -> None:
    first = ask(s)
    other = ask(s, If_Match=first.headers["ETag"], Range="bytes=3-7")
    assert (other.status, other.body) == (206, replacement(DATA)[3:8])
    assert other.headers["ETag"] != first.headers["ETag"]
    assert ask(s).body == DATA


def _cut_bodies(s: HttpServer) -> None:
    found = ask(s)
    assert (found.body, found.whole, found.headers["Content-Length"]) == (DATA[:50], False, "100")


def _stall_bodies(s: HttpServer) -> None:
    _cut_bodies(s)


def _drip_bodies(s: HttpServer) -> None:
    begun = time.monotonic()
    assert ask(s).body == DATA
    assert time.monotonic() - begun >= 0.05


def _slow_down(s: HttpServer) -> None:
    found = ask(s)
    assert (found.status, found.headers["Retry-After"]) == (503, "0")
    assert b"<Code>SlowDown</Code>" in found.body


CHECKS: dict[str, Callable[[HttpServer], None]] = {
    check.__name__.strip("_").replace("_", "-"): check
    for check in (
        *(_ignore_ranges, _shift_ranges, _omit_content_range, _omit_length, _chunk_bodies),
        *(_gzip_bodies, _redirect, _refuse_past_end, _refuse_head, _understate_length),
        *(_overstate_length, _change_etags, _ignore_if_match, _cut_bodies, _stall_bodies),
        *(_drip_bodies, _slow_down),
    )
}


@pytest.mark.parametrize("kind", sorted(kinds_at(HTTP)))
def test_option_makes_the_server_misbehave(start: Start, kind: str) -> None:
    CHECKS[kind](start(**{kind.replace("-", "_"): True}))


@pytest.mark.parametrize("kind", sorted(kinds_at(HTTP)))
def test_plan_makes_the_server_misbehave(start: Start, kind: str) -> None:
    server = start()
    with server.injector.attached(FaultPlan((Fault(kind, times="all"),))):
        CHECKS[kind](server)
        assert server.injector.fired > 0
    assert ask(server, Range="bytes=3-7").body == DATA[3:8], "after the plan"


def test_several_kinds_strike_one_request(start: Start) -> None:
    found = ask(start(ignore_ranges=True, gzip_bodies=True, cut_bodies=True), Range="bytes=3-7")
    assert (found.status, found.whole, found.headers["Content-Encoding"]) == (200, False, "gzip")


def test_fault_strikes_the_requests_of_its_aim(start: Start, directory: Path) -> None:
    (directory / "other").write_bytes(DATA)
    server = start()
    plan = FaultPlan((Fault("ignore-ranges", path="other", offset=3),))
    with server.injector.attached(plan):
        assert ask(server, Range="bytes=3-7").status == 206
        assert ask(server, "/other", Range="bytes=2-7").status == 206
        assert ask(server, "/other", Range="bytes=3-7").status == 200
        assert ask(server, "/other", Range="bytes=3-7").status == 206
    assert [r.number for r in server.requests] == [1, 2, 3, 4]


def test_fault_that_changes_no_answer_does_not_count(start: Start) -> None:
    server = start()
    for kind in kinds_at(HTTP) - {"redirect", "change-etags", "slow-down", "omit-length"}:
        with server.injector.attached(FaultPlan((Fault(kind, times="all"),))):
            ask(server, "/empty")
            assert server.injector.fired == 0, kind


def test_unknown_kinds_of_faults_are_refused(start: Start) -> None:
    with pytest.raises(ProgramError, match="unsupported kind short"):
        start().injector.attach(FaultPlan((Fault.short(),)))


def test_close_ends_waits_and_threads(directory: Path) -> None:
    before = threading.active_count()
    server = HttpServer(directory, stall_bodies=3600).start()
    connection = http.client.HTTPConnection(server.address, timeout=DEADLOCK)
    connection.request("GET", "/file")
    with connection.getresponse() as response:
        assert response.read(50) == DATA[:50]
        server.close()
        assert response.read1(1) == b""
    connection.close()
    assert threading.active_count() == before
    server.close()
