"""The fault proxy: what no fault strikes goes through."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import urlsplit

import pytest

from fscontract.contract.program.faults import Fault
from fscontract.fakes.fault_proxy import FaultProxy, is_object
from tests.fakes.clients import ask, ask_on, connect, plan, raw
from tests.fakes.stores import DATA, FILE, Store


def test_all_goes_through_without_a_plan(proxy: FaultProxy, store: Store) -> None:
    """Status, headers and body of whole files, parts and errors."""
    whole, part = ask(proxy), ask(proxy, Range="bytes=5-14")
    assert (whole.status, whole.body) == (200, DATA)
    assert (part.status, part.body) == (206, DATA[5:15])
    assert part.headers["content-range"] == "bytes 5-14/9000"
    assert "x-twice" in whole.headers
    assert (ask(proxy, "/bucket/other").status, ask(proxy, method="DELETE").status) == (404, 204)
    assert store.files == {}


def test_what_a_signature_holds_goes_through_unchanged(proxy: FaultProxy, store: Store) -> None:
    """Target, Host and headers, to the letter."""
    target = "/bucket//a%2Fb%20c/../%C3%A9?x=1&y=%2B&z"
    ask(proxy, target, Authorization="AWS4 x=y", Range="bytes=1-2", If_Match='"e"')
    method, seen, headers = store.seen[-1]
    assert (method, seen) == ("GET", target)
    assert headers["Host"] == urlsplit(proxy.url).netloc
    assert (headers["Authorization"], headers["Range"]) == ("AWS4 x=y", "bytes=1-2")
    assert headers["If_Match"] == '"e"'
    assert headers["Accept-Encoding"] == "identity"


def test_several_requests_go_through_one_connection(proxy: FaultProxy) -> None:
    """Also after one that had an error for an answer."""
    plan(proxy, Fault("throttle", 2), Fault("short", 3), Fault("corrupt", 4))
    with closing(connect(proxy)) as connection:
        answers = [ask_on(connection, FILE, "GET", Range="bytes=0-4") for _ in range(5)]
        assert [a.status for a in answers] == [206, 503, 206, 206, 206]
        assert ask_on(connection, FILE, "HEAD").headers["content-length"] == "9000"


def test_bodies_go_to_the_store_in_either_form(proxy: FaultProxy, store: Store) -> None:
    """Of known length, after `Expect`, and in chunks."""
    with closing(connect(proxy)) as connection:
        connection.request("PUT", "/b/1", DATA, {"Expect": "100-continue"})
        connection.getresponse().read()
        connection.request("PUT", "/b/2", iter([b"abc", DATA]), encode_chunked=True)
        connection.getresponse().read()
        connection.request("POST", "/b/3", b"")
        connection.getresponse().read()
    assert store.files == {FILE: DATA, "/b/1": DATA, "/b/2": b"abc" + DATA, "/b/3": b""}


def test_answers_of_unknown_length_come_back_in_chunks(proxy: FaultProxy, store: Store) -> None:
    """And to a client of HTTP/1.0, which has no chunks, up to the end of the connection."""
    store.files["/b/chunked"] = DATA[:50]
    answer = ask(proxy, "/b/chunked")
    assert (answer.body, answer.headers["transfer-encoding"]) == (DATA[:50], "chunked")
    assert raw(proxy, b"GET /b/chunked HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\n" + DATA[:50])


def test_what_is_no_http_is_answered_or_dropped(proxy: FaultProxy) -> None:
    """And the next client is served."""
    assert b"400" in raw(proxy, b"nonsense\r\n\r\n")
    for body in (b"Content-Length: x\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
        assert raw(proxy, b"PUT /b/k HTTP/1.1\r\n" + body) == b""
    assert ask(proxy).status == 200


def test_only_objects_are_counted_and_the_log_has_all(proxy: FaultProxy) -> None:
    """A plan says something of reads, not of listings and writes."""
    plan(proxy, Fault("throttle", nth=2, times=9))
    targets = ["/bucket?list-type=2&prefix=a", "/bucket/", "/bucket", FILE, FILE + "?acl", FILE]
    assert [ask(proxy, t).status for t in targets] == [404, 404, 404, 200, 200, 503]
    assert ask(proxy, method="PUT").status == 200
    assert [r.number for r in proxy.requests] == [0, 0, 0, 1, 0, 2, 0]
    assert [r.target for r in proxy.requests] == [*targets, FILE]
    assert proxy.requests[-2].fault == Fault("throttle", nth=2, times=9)
    assert proxy.requests[0].headers["accept-encoding"] == "identity"
    assert (proxy.injector.requests, proxy.injector.fired) == (2, 1)


@pytest.mark.parametrize(
    ("method", "target", "counts"),
    [
        ("GET", "/b/k", True),
        ("HEAD", "/b/k/l?partNumber=1&versionId=2&x-id=GetObject", True),
        ("PUT", "/b/k", False),
        ("GET", "/b/k/", False),
        ("GET", "/b/k?uploadId=1", False),
    ],
)
def test_what_an_object_is_can_be_told_from_the_request(
    method: str, target: str, counts: bool
) -> None:
    """The default is S3 with the bucket in the path; others pass a function."""
    assert is_object(method, target) is counts


def test_a_store_without_buckets_has_its_own_idea_of_objects(store: Store) -> None:
    """A file at the root."""
    store.files["/file"] = DATA
    with FaultProxy(store.url + "/d/", matches=lambda _, target: target == "/file") as proxy:
        assert proxy.url.endswith("/d/")
        plan(proxy, Fault("throttle"))
        assert [ask(proxy, "/file").status for _ in range(2)] == [503, 200]


def test_a_store_that_is_not_there_is_a_bad_gateway(deaf_port: int) -> None:
    """Not a fault of any plan."""
    with FaultProxy(f"http://127.0.0.1:{deaf_port}") as proxy:
        answer = ask(proxy)
    assert (answer.status, b"can't be reached" in answer.body) == (502, True)


@pytest.mark.parametrize("url", ["https://127.0.0.1", "127.0.0.1:80", "http://", "s3://b"])
def test_only_plain_http_has_a_proxy(url: str) -> None:
    """Said at once."""
    with pytest.raises(ValueError, match=r"^upstream must be an http:// URL"):
        FaultProxy(url)
