"""Tests of retries: which failures, how often, and the final error."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from fscontract.contract.api.errors import AccessControlException, FileAlreadyExistsException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import (
    ConnectionFailedException,
    ObjectLocation,
    RequestTimeoutException,
    S3Exception,
    ServerErrorException,
    ThrottledException,
    of_status,
)
from fscontract.implementations.s3.object_store import Namespace, ObjectStore, etag_of
from fscontract.implementations.s3.transports.selection import namespace


@pytest.fixture
def names(config: S3Config) -> Iterator[Namespace]:
    """The bucket, with each transport."""
    made = namespace(config)
    yield made
    made.close()


class Failing:
    """Forwards calls, but raises the given failures first; with `after`, once the call is done."""

    def __init__(self, inner: Any, failures: Sequence[Exception], after: bool = False) -> None:
        self.calls: list[str] = []
        self._inner = inner
        self._failures = list(failures)
        self._after = after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            error = self._failures.pop(0) if self._failures else None
            if error is not None and not self._after:
                raise error
            result = getattr(self._inner, name)(*arguments)
            if error is not None:
                raise error
            return result

        return call


def failing_store(
    failing: Any, retries: int, count: Callable[[str], None] = lambda name: None
) -> ObjectStore:
    """Return a store over a failing namespace."""
    return ObjectStore("data", lambda: failing, retries, count)


def broken(what: type[S3Exception] = ConnectionFailedException) -> S3Exception:
    """Return a transient failure."""
    return what(ObjectLocation("data", "key"), "no luck")


class TestTryingAgain:
    @pytest.mark.parametrize("what", [ConnectionFailedException, ServerErrorException])
    def test_transient_failures_are_retried(
        self, names: Namespace, what: type[S3Exception]
    ) -> None:
        counted: list[str] = []
        failing = Failing(names, [broken(what), broken(what)])
        store = failing_store(failing, 2, counted.append)
        store.put("key", b"hello")
        assert counted == ["object_put_request"] * 3
        assert names.head("key").length == 5

    def test_number_of_retries_is_limited(self, names: Namespace) -> None:
        failing = Failing(names, [broken(), broken()])
        with pytest.raises(ConnectionFailedException):
            failing_store(failing, 1).put("key", b"")
        assert failing.calls == ["put", "put"]

    def test_permanent_failures_are_not_retried(self, names: Namespace) -> None:
        failing = Failing(names, [of_status(ObjectLocation("data", "key"), 403, "AccessDenied")])
        with pytest.raises(AccessControlException):
            failing_store(failing, 5).put("key", b"")
        assert failing.calls == ["put"]

    def test_conflict_of_concurrent_creates_is_retried(self, names: Namespace) -> None:
        """S3 documents it: the other request may have failed."""
        failing = Failing(names, [of_status(ObjectLocation("data", "key"), 409, "Conflict")])
        store = failing_store(failing, 1)
        assert store.put("key", b"", create=True).etag
        failing = Failing(names, [of_status(ObjectLocation("data", "key"), 409, "Conflict")])
        with pytest.raises(FileAlreadyExistsException, match="the file already exists in bucket"):
            failing_store(failing, 1).put("key", b"", create=True)

    def test_create_with_a_lost_response_raises_an_ambiguous_error(self, names: Namespace) -> None:
        failing = Failing(names, [broken()], after=True)
        store = failing_store(failing, 1)
        with pytest.raises(FileAlreadyExistsException, match="may have created it"):
            store.put("key", b"", create=True)

    def test_completed_upload_with_a_lost_response_is_detected_by_etag(
        self, names: Namespace
    ) -> None:
        upload = names.begin("key")
        etags = [names.part("key", upload, 1, b"parts")]
        gone = of_status(ObjectLocation("data", "key"), 404, "NoSuchUpload")
        failing = Failing(names, [broken(), gone], after=True)
        store = failing_store(failing, 1)
        assert store.complete("key", upload, etags).etag == etag_of(etags)
        assert failing.calls == ["complete", "complete", "head"]

    def test_only_remaining_keys_are_deleted_again(self) -> None:
        store, asked = failing_deletes({"b": 503, "c": 503}, {})
        store.delete(["a", "b", "c"])
        assert asked == [["a", "b", "c"], ["b", "c"]]

    def test_keys_that_can_not_be_deleted_are_reported(self) -> None:
        store, asked = failing_deletes({"b": 503, "c": 403, "d": 403, "e": 404})
        with pytest.raises(AccessControlException, match="and 2 others") as caught:
            store.delete(["a", "b", "c", "d", "e"])
        assert caught.value.path == "/c"
        assert len(asked) == 1


def failing_deletes(*answers: dict[str, int]) -> tuple[ObjectStore, list[list[str]]]:
    """Return a store whose deletes fail with a status per key, and the record of its requests."""
    asked: list[list[str]] = []
    left = list(answers)

    class Deleting:
        def delete(self, keys: Sequence[str]) -> dict[str, OSError]:
            asked.append(list(keys))
            return {
                key: of_status(ObjectLocation("data", key), n) for key, n in left.pop(0).items()
            }

    return failing_store(Deleting(), 3), asked


@pytest.mark.parametrize(
    ("place", "error", "usual"),
    [
        ("unused", ConnectionFailedException, ConnectionError),
        ("silent", RequestTimeoutException, TimeoutError),
    ],
)
def test_connection_failures_are_transient(
    place: str,
    error: type[S3Exception],
    usual: type[OSError],
    transport: str,
    request: pytest.FixtureRequest,
) -> None:
    """Therefore it is retried; the error is also a builtin ConnectionError."""
    url = request.getfixturevalue(place)
    options = {"endpoint": url, "anonymous": True, "timeout": 0.1, "transport": transport}
    config = S3Config.of("data", options)
    counted: list[str] = []
    store = ObjectStore("data", lambda: namespace(config), 1, counted.append)
    for call in (lambda: store.head("key"), lambda: store.put("key", b"")):
        with pytest.raises(error) as caught:
            call()
        assert caught.value.path == "/key"
        assert isinstance(caught.value, usual)
    assert counted.count("object_put_request") == 2


class _Busy(http.server.BaseHTTPRequestHandler):
    """Responds to every request that it is busy, and records the requests in `asked`."""

    asked: ClassVar[list[str]]

    def _refuse(self) -> None:
        self.asked.append(self.command)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    do_GET = do_HEAD = do_PUT = do_POST = _refuse  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def busy() -> Iterator[tuple[str, list[str]]]:
    """A throttling server, and the requests that it received."""

    class Handler(_Busy):
        asked: ClassVar[list[str]] = []

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", Handler.asked
        server.shutdown()
        thread.join()


def test_transports_do_not_retry(busy: tuple[str, list[str]], transport: str) -> None:
    """So each attempt is one request, and is counted."""
    url, asked = busy
    config = S3Config.of("data", {"endpoint": url, "anonymous": True, "transport": transport})
    store = ObjectStore("data", lambda: namespace(config), 0)
    calls: list[Callable[[], Any]] = [
        lambda: store.head("key"),
        lambda: store.put("key", b""),
        lambda: store.begin("key"),
        lambda: store.delete(["key"]),
        lambda: next(store.list("")),
    ]
    for call in calls:
        with pytest.raises(ThrottledException):
            call()
    assert asked == ["HEAD", "PUT", "POST", "POST", "GET"]


def test_throttling_is_detected_by_status() -> None:
    """Also for one key of a bulk delete."""
    assert isinstance(of_status(ObjectLocation("data", "key"), 503, "SlowDown"), ThrottledException)
