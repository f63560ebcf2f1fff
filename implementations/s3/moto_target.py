"""Named target `s3`: a moto server in a child process, on the loopback interface only.

A separate process keeps its threads and connections apart from those of the stream under test. It
ends with the process that started it, even if that process is killed.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any, ClassVar
from urllib.request import Request, urlopen

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.binding import Binding, TargetError
from fscontract.implementations.bindings.common import failure, new_prefix
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.targets import ReferenceBinding

#: Credentials for its clients; the server accepts any.
ACCESS_KEY = SECRET_KEY = "fscontract"
REGION = "us-east-1"
_PATIENCE = 10
#: Without the current directory on the path, where another `moto.py` may lie.
_START = f"""
import sys
sys.path = [entry for entry in sys.path if entry]
from {__name__} import serve
serve()
"""


class EmbeddedServer:
    """A running server; `url` is its address."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - runs this module with the same interpreter
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().decode().strip()
        if not self.url:
            self.close()
            raise OSError("the embedded S3 server (moto) did not start")

    def close(self) -> None:
        """Stop the server and drop its data. May be called again."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def available() -> bool:
    """Return True if the server is installed."""
    return find_spec("moto") is not None and find_spec("flask") is not None


def serve() -> None:
    """Run the server in this process until standard input ends."""
    import logging

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication
    from moto.server import ThreadedMotoServer

    dispatcher: Any = DomainDispatcherApplication
    answer, lock = dispatcher.__call__, threading.Lock()

    def answer_in_turn(app: Any, environ: dict[str, Any], start_response: Any) -> Any:
        """Answer one conditional request at a time: moto checks the condition, and then writes."""
        with lock if "HTTP_IF_NONE_MATCH" in environ else nullcontext():
            return answer(app, environ, start_response)

    dispatcher.__call__ = answer_in_turn
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    sys.stdin.buffer.read()  # until the parent process closes the pipe or ends
    server.stop()


#: Bucket on the embedded server.
BUCKET = "fscontract"
_EMBEDDED = {
    "access_key": ACCESS_KEY,
    "secret_key": SECRET_KEY,
    "region": REGION,
    "path_style": "true",
}


class S3Binding(ReferenceBinding):
    """Binding to a bucket, optionally on a server that ends with it."""

    default_profile: ClassVar[str] = "s3"

    def __init__(self, filesystem: S3FileSystem, server: EmbeddedServer | None = None) -> None:
        super().__init__(filesystem, "s3")
        self.remote = True
        self._s3 = filesystem
        self._server = server

    def prepare(self) -> None:
        """Create the bucket of the embedded server and choose a directory; raise TargetError.

        This also writes a first file, because some stores can't represent an empty bucket.
        """
        if self._server is not None:
            make_bucket(self._server.url)
        try:
            self._s3.get_file_status("/")
        except Exception as error:
            raise failure(self.name, "can't use the bucket", error) from error
        self._prefix = new_prefix("/")

    def dispose(self) -> None:
        """Remove the directory; stop connections and the server; raise TargetError."""
        try:
            super().dispose()
        finally:
            self._s3.close()
            if self._server is not None:
                self._server.close()


def s3(options: Mapping[str, str]) -> Binding:
    """Return a binding to `bucket` with the other S3 options, or to a bucket on a moto server.

    Raise TargetError if an option is invalid or the server can't be started.
    """
    given = dict(options)
    bucket = given.pop("bucket", None)
    if bucket is not None:
        return S3Binding(S3FileSystem.of(config_of(bucket, given)))
    for name in ("endpoint", *_EMBEDDED):
        if name in given:
            raise TargetError(f"s3: option {name!r} requires option 'bucket'")
    server = start(given)
    return S3Binding(S3FileSystem.of(embedded_config(server.url, given)), server)


def start(options: Mapping[str, str]) -> EmbeddedServer:
    """Return a new embedded server if `options` allow one; raise TargetError."""
    embedded_config("http://127.0.0.1", options)
    if not available():
        raise TargetError("s3: the embedded server requires moto: pip install 'fscontract[s3]'")
    try:
        return EmbeddedServer()
    except OSError as error:
        raise failure("s3", "can't start the embedded server", error) from error


def make_bucket(url: str) -> None:
    """Create the bucket on an embedded server; raise TargetError."""
    request = Request(f"{url}/{BUCKET}", method="PUT")  # noqa: S310 - http, to this machine
    try:
        urlopen(request, timeout=30).close()  # noqa: S310
    except OSError as error:
        raise failure("s3", "can't create a bucket", error) from error


def embedded_config(url: str, options: Mapping[str, str]) -> S3Config:
    """Return the configuration for an embedded server at `url`; raise TargetError."""
    return config_of(BUCKET, {**options, **_EMBEDDED, "endpoint": url})


def config_of(bucket: str, options: Mapping[str, str]) -> S3Config:
    """Return the configuration of a bucket; raise TargetError for an invalid option."""
    try:
        return S3Config.of(bucket, options)
    except IllegalArgumentException as error:
        raise TargetError(f"s3: {error}") from error
