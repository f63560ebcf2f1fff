"""Tests that secrets never appear in texts, pickles, dumps or exceptions."""

from __future__ import annotations

import copy
import dataclasses
import http.server
import json
import pickle
import pprint
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fscontract.contract.api.errors import AccessControlException, IllegalArgumentException
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.credentials import Credentials, Keys
from fscontract.implementations.s3.errors import (
    ConnectionFailedException,
    RequestTimeoutException,
    S3Exception,
)
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.fsspec_adapter import S3Fsspec

SECRETS: dict[str, Any] = {
    "access_key": "AKIASESAMEACCESS",
    "secret_key": "sesame/secret+key",
    "session_token": "sesame=session=token",
}
S3A: dict[str, Any] = {
    "fs.s3a.access.key": SECRETS["access_key"],
    "fs.s3a.secret.key": SECRETS["secret_key"],
    "fs.s3a.session.token": SECRETS["session_token"],
}


def shown(*texts: str) -> list[str]:
    """Return the secrets that appear in the texts."""
    return [secret for secret in SECRETS.values() for text in texts if secret in text]


def told_by(error: BaseException) -> str:
    """Return the text of an exception, with its causes and contexts, as a report shows them."""
    told = "".join(traceback.format_exception(error))
    shown: BaseException | None = error
    while shown is not None:
        told += repr(shown) + repr(shown.args) + repr(vars(shown))
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    return told


HOLDERS: list[Callable[[], Any]] = [
    lambda: Credentials("keys", None, *SECRETS.values()),
    lambda: S3Config.of("data", SECRETS, {}),
    lambda: S3Config.of("data", S3A, {}),
    lambda: S3FileSystem("data", **SECRETS),
    lambda: S3FileSystem("data", **S3A),
    lambda: S3FileSystem("data", **SECRETS).as_fsspec(),
    lambda: S3Fsspec(**SECRETS),
    lambda: S3Fsspec(**S3A),
]
NAMES = ["credentials", "config", "config-s3a", "fs", "fs-s3a", "as-fsspec", "fsspec", "fsspec-s3a"]


@pytest.mark.parametrize("make", HOLDERS, ids=NAMES)
class TestHolders:
    def test_text_shows_no_secret(self, make: Callable[[], Any]) -> None:
        holder = make()
        texts = (repr(holder), str(holder), f"{holder}", pprint.pformat(holder), "%r" % [holder])
        assert shown(*texts) == []

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickle_has_no_secret(self, make: Callable[[], Any], protocol: int) -> None:
        pickled = pickle.dumps(make(), protocol)
        assert shown(pickled.decode("latin-1")) == []
        again = pickle.dumps(pickle.loads(pickled), protocol)
        assert shown(again.decode("latin-1")) == []

    def test_copy_shows_no_secret(self, make: Callable[[], Any]) -> None:
        holder = make()
        assert shown(repr(copy.copy(holder)), repr(copy.deepcopy(holder))) == []

    def test_attribute_dump_has_no_secret(self, make: Callable[[], Any]) -> None:
        holder = make()
        dumps = [repr(getattr(holder, "__dict__", ""))]
        if dataclasses.is_dataclass(holder) and not isinstance(holder, type):
            dumps += [repr(dataclasses.asdict(holder)), repr(dataclasses.astuple(holder))]
            dumps.append(json.dumps(dataclasses.asdict(holder), default=repr))
        if isinstance(holder, S3Fsspec):
            dumps += [repr(holder.storage_options), repr(holder.storage_args)]
            dumps.append(repr(vars(holder.fs).keys()))
        assert shown(*dumps) == []

    def test_attributes_are_limited_to_the_config(self, make: Callable[[], Any]) -> None:
        """Objects that hold raw options hide them from dumps of attributes."""
        holder = make()
        inner = getattr(holder, "fs", holder)
        assert shown(repr(vars(inner)) if hasattr(inner, "__dict__") else repr(inner)) == []


class TestFsspec:
    def test_json_has_no_secret(self) -> None:
        """It has the other options, and its reader finds keys separately."""
        text = S3Fsspec(**SECRETS, endpoint="http://here").to_json()
        assert "http://here" in text
        assert shown(text) == []


class TestKeys:
    def test_keys_are_not_shown_or_pickled(self) -> None:
        keys = Keys(*SECRETS.values())
        assert shown(repr(keys), str(keys), f"{keys}") == []
        with pytest.raises(TypeError, match="can't be pickled") as caught:
            pickle.dumps(keys)
        assert shown(told_by(caught.value)) == []


class TestRefusals:
    @pytest.mark.parametrize(
        "options",
        [
            {"access_key": SECRETS["access_key"]},
            {"secret_key": SECRETS["secret_key"]},
            {"session_token": SECRETS["session_token"]},
            {"endpoint": f"http://me:{SECRETS['secret_key']}@host"},
            {"endpoint": f"ftp://host/{SECRETS['secret_key']}"},
            {**SECRETS, "profile": "p"},
            {**SECRETS, "anonymous": True},
            {**SECRETS, "timeout": "never"},
            {**SECRETS, "endpont": "http://x"},
            {"fs.s3a.secret.key": SECRETS["secret_key"]},
        ],
    )
    def test_invalid_option_errors_show_no_secret(self, options: dict[str, Any]) -> None:
        for make in (S3FileSystem, lambda _, **given: S3Fsspec(**given).info("/data/a")):
            with pytest.raises(IllegalArgumentException) as caught:
                make("data", **options)
            assert shown(told_by(caught.value)) == []


class _Echo(http.server.BaseHTTPRequestHandler):
    """Rejects every request, and echoes its headers in the response."""

    protocol_version = "HTTP/1.1"

    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = "".join(f"{name}={value};" for name, value in self.headers.items())
        told = told.replace("<", "").replace("&", "")
        body = f"<Error><Code>AccessDenied</Code><Message>{told}</Message></Error>".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _refuse  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    """A server that rejects requests and echoes their headers, including the session token."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


CALLS: list[Callable[[S3FileSystem], Any]] = [
    lambda fs: fs.get_file_status("/a"),
    lambda fs: fs.list_status("/"),
    lambda fs: fs.delete("/a"),
    lambda fs: fs.mkdirs("/a/b"),
    lambda fs: fs.create("/a").close(),
    lambda fs: fs.rename("/a", "/b"),
    lambda fs: fs.open("/a").read_byte(),
]


class TestFailures:
    @pytest.mark.parametrize(
        ("place", "error"),
        [
            ("refusing", AccessControlException),
            ("unused", ConnectionFailedException),
            ("silent", RequestTimeoutException),
        ],
    )
    def test_failed_request_shows_no_secret(
        self,
        place: str,
        error: type[Exception],
        transport: str,
        request: pytest.FixtureRequest,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        options = {**SECRETS, "endpoint": request.getfixturevalue(place), "region": "us-east-1"}
        timeout = "100ms" if place == "silent" else "30s"
        with S3FileSystem("data", **options, transport=transport, retries=0, timeout=timeout) as fs:
            for call in CALLS:
                with pytest.raises(error) as caught:
                    call(fs)
                assert shown(told_by(caught.value)) == []
                assert len(str(caught.value)) < 200
                assert "\n" not in str(caught.value)
        assert shown(caplog.text) == []

    def test_unknown_host_error_shows_no_secret(self, transport: str) -> None:
        options = {**SECRETS, "endpoint": "http://nowhere.invalid", "region": "us-east-1"}
        with S3FileSystem("data", **options, transport=transport, retries=0) as fs:
            for call in CALLS:
                with pytest.raises(S3Exception) as caught:
                    call(fs)
                assert shown(told_by(caught.value)) == []
