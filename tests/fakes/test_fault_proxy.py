"""The fault proxy: the effect of each kind of fault on the wire, and other requests, which pass."""

from __future__ import annotations

import http.client
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import content
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan
from fscontract.fakes.fault_proxy import FaultProxy
from tests.fakes.clients import Answer, ask, ask_on, connect, plan
from tests.fakes.stores import DATA, FILE, Store
from tests.limits import DEADLOCK


def test_a_reset_is_a_reset(proxy: FaultProxy) -> None:
    """The connection is not closed cleanly, for which http.client has a special exception."""
    plan(proxy, Fault("reset"))
    with pytest.raises(ConnectionResetError) as caught:
        ask(proxy)
    assert not isinstance(caught.value, http.client.RemoteDisconnected)
    assert ask(proxy).body == DATA


def test_a_time_out_ends_without_an_answer(proxy: FaultProxy) -> None:
    """After its seconds; the client may have gone before."""
    plan(proxy, Fault("timeout", seconds=0.05), Fault("timeout", 2))
    before = time.monotonic()
    with pytest.raises(http.client.RemoteDisconnected):
        ask(proxy)
    assert time.monotonic() - before >= 0.05
    with closing(connect(proxy)) as connection:
        connection.timeout = 0.05
        with pytest.raises(TimeoutError):
            ask_on(connection, FILE, "GET")


def test_a_hang_ends_with_the_answer(proxy: FaultProxy) -> None:
    """After its seconds, or when the plan is taken away."""
    plan(proxy, Fault("hang", seconds=0.01), Fault("hang", nth=2))
    assert ask(proxy).body == DATA
    found: list[Answer] = []
    thread = threading.Thread(target=lambda: found.append(ask(proxy)))
    thread.start()
    while proxy.injector.fired < 2:
        thread.join(0.001)
    assert found == []
    proxy.injector.detach()
    thread.join()
    assert found[0].body == DATA


def test_no_fault_waits_longer_than_it_may(store: Store) -> None:
    """A plan made for a logical clock can be run in real time."""
    with FaultProxy(store.url, longest=0.01) as proxy:
        plan(proxy, Fault("hang"), Fault("slow", 2, seconds=100))
        assert [ask(proxy).body for _ in range(2)] == [DATA, DATA]
        assert proxy.injector.fired == 2


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Fault("throttle", seconds=1.5), 503, b"SlowDown"),
        (Fault("range"), 416, b"InvalidRange"),
        (Fault("precondition"), 412, b"PreconditionFailed"),
        (Fault("delete"), 404, b"NoSuchKey"),
        (Fault("revoke"), 403, b"AccessDenied"),
    ],
    ids=str,
)
def test_errors_are_those_of_s3(proxy: FaultProxy, fault: Fault, status: int, code: bytes) -> None:
    """The answer has a status, a code in XML, and for a throttled client a whole number of
    seconds.
    """
    plan(proxy, fault)
    answer = ask(proxy)
    assert answer.status == status
    assert b"<Error><Code>" + code + b"</Code>" in answer.body
    assert b"<Resource>/bucket/file</Resource>" in answer.body
    assert answer.headers.get("retry-after") == ("2" if status == 503 else None)
    assert proxy.injector.fired == 1


def test_an_error_of_a_head_has_no_body(proxy: FaultProxy) -> None:
    """Or the next answer would begin with it."""
    plan(proxy, Fault("throttle"))
    with closing(connect(proxy)) as connection:
        assert ask_on(connection, FILE, "HEAD").status == 503
        assert ask_on(connection, FILE, "GET").body == DATA


@pytest.mark.parametrize(("kind", "status"), [("delete", 404), ("revoke", 403)])
def test_an_object_that_is_gone_stays_so(proxy: FaultProxy, kind: str, status: int) -> None:
    """For GET and HEAD, until it is written anew or the plan is taken away; others are there."""
    plan(proxy, Fault(kind, times=9))
    assert [ask(proxy, method=m).status for m in ("GET", "HEAD", "GET")] == [status] * 3
    assert proxy.injector.fired == 1
    proxy.injector.attach(FaultPlan((Fault(kind),)))
    assert ask(proxy).status == status
    assert ask(proxy, "/bucket/other").status == 404
    assert ask(proxy, method="PUT").status == 200
    assert ask(proxy).status == 200
    plan(proxy, Fault(kind))
    assert ask(proxy).status == status
    proxy.injector.detach()
    assert ask(proxy).status == 200


def test_a_short_answer_says_what_it_holds(proxy: FaultProxy) -> None:
    """So it is none that breaks the protocol, and no checksum of more is left."""
    plan(proxy, Fault("short", amount=3))
    answer = ask(proxy, Range="bytes=5-14")
    assert (answer.status, answer.body) == (206, DATA[5:8])
    assert answer.headers["content-range"] == "bytes 5-7/9000"
    assert answer.headers["content-length"] == "3"
    assert "x-amz-checksum-crc32" not in answer.headers


def test_a_whole_file_is_never_short(proxy: FaultProxy) -> None:
    """Nor a range of as few bytes: nothing has happened, and nothing is counted."""
    plan(proxy, Fault("short", amount=3, times=9))
    assert ask(proxy).body == DATA
    assert ask(proxy, Range="bytes=5-7").body == DATA[5:8]
    assert ask(proxy, "/bucket/other").body == b"nothing here"
    assert (proxy.injector.requests, proxy.injector.fired) == (3, 0)


@pytest.mark.parametrize("amount", [0, 1, 8999])
def test_a_body_that_is_cut_was_announced_whole(proxy: FaultProxy, amount: int) -> None:
    """The length says so, or the last chunk is missing."""
    plan(proxy, Fault("cut-body", amount=amount))
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(proxy)
    assert caught.value.partial == DATA[:amount]
    assert caught.value.expected == 9000 - amount


def test_a_body_in_chunks_is_cut_without_its_last(proxy: FaultProxy, store: Store) -> None:
    """So the client can tell."""
    store.files["/b/chunked"] = DATA[:50]
    plan(proxy, Fault("cut-body", amount=20))
    with pytest.raises(http.client.IncompleteRead):
        ask(proxy, "/b/chunked")
    assert proxy.injector.fired == 1


def test_a_body_of_just_so_many_bytes_is_not_cut(proxy: FaultProxy) -> None:
    """Nothing has happened."""
    plan(proxy, Fault("cut-body", amount=10))
    assert ask(proxy, Range="bytes=0-9").body == DATA[:10]
    assert proxy.injector.fired == 0


def test_a_corrupt_body_has_its_length_and_its_checksums(proxy: FaultProxy) -> None:
    """The header lets a client detect it."""
    plan(proxy, Fault("corrupt"))
    answer = ask(proxy, Range="bytes=5-14")
    assert answer.body == bytes((DATA[5] ^ 255,)) + DATA[6:15]
    assert answer.headers["x-amz-checksum-crc32"] == "abc="


def test_a_slow_body_takes_its_time(proxy: FaultProxy) -> None:
    """Byte by byte, and complete."""
    plan(proxy, Fault("slow", seconds=0.01))
    before = time.monotonic()
    assert ask(proxy, Range="bytes=0-4").body == DATA[:5]
    assert time.monotonic() - before >= 0.05


def test_every_kind_of_http_is_among_them() -> None:
    """And none that can't happen there."""
    proxy = FaultProxy("http://127.0.0.1:1")
    with closing(proxy):
        http_kinds = {name for name, kind in FAULTS.items() if "http" in kind.places}
        assert proxy.injector.kinds == http_kinds
        with pytest.raises(ProgramError, match="unsupported kind descriptors"):
            plan(proxy, Fault("descriptors"))


def test_nothing_is_left_after_close(store: Store) -> None:
    """It ends idle connections, a hang, a slow body, a client that has disconnected, one that
    does not read, and a store that does not answer.
    """
    before = _descriptors()
    store.files["/b/large"] = content(1 << 16) * 300
    clients = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        deaf = FaultProxy(f"http://127.0.0.1:{silent.getsockname()[1]}").start()
        proxy = FaultProxy(store.url).start()
        plan(proxy, Fault("hang", 2, 2), Fault("slow", 4, seconds=100), Fault("reset", 5))
        for at, target in enumerate([FILE] * 5 + ["/b/large"], 1):
            clients.append(connect(proxy))
            clients[-1].request("GET", target)
            _until(partial(_has_come, proxy, at))
        clients[1].close()
        clients.append(connect(deaf))
        clients[-1].request("GET", FILE)
        _until(partial(_has_come, deaf, 1))
        for _ in range(2):
            proxy.close()
            deaf.close()
        assert [t for t in threading.enumerate() if t.name == "fault-proxy"] == []
    for client in clients:
        client.close()
    _until(lambda: _descriptors() <= before)  # the store's threads end soon after


def test_a_proxy_that_never_started_can_be_closed() -> None:
    """It has a socket already."""
    before = _descriptors()
    FaultProxy("http://127.0.0.1:1").close()
    assert _descriptors() == before


def _has_come(proxy: FaultProxy, number: int) -> bool:
    return len(proxy.requests) == number


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLOCK
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _descriptors() -> int:
    """Return the number of open descriptors, where Linux shows it."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
