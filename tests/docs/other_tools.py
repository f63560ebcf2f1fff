"""Try the needs of a test with the fake and with other tools, one probe for each.

A probe returns True if the tool does it, and False if it was tried and did not work. The needs are
the rows of the table "Other tools" in docs/how-to/fault-injection.md.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import boto3
import fsspec
import pyarrow.fs
import requests
import responses
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.server import ThreadedMotoServer
from pyfakefs.fake_filesystem_unittest import Patcher
from pyfakefs.helpers import set_uid
from responses.registries import OrderedRegistry

from fscontract.fakes import FakeFileSystem, Fault, FaultPlan, FaultProxy, mount_fake
from tests.fakes.stores import DATA, FILE, storing

#: Probes by need and tool.
PROBES: dict[tuple[str, str], Callable[[], bool]] = {}
_URL = "http://store.example/file"
_KEYS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "key",
    "aws_secret_access_key": "secret",
}


def _probe(need: str, tool: str) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    def add(function: Callable[[], bool]) -> Callable[[], bool]:
        PROBES[need, tool] = function
        return function

    return add


@contextmanager
def _proxied(*faults: Fault) -> Iterator[str]:
    """Return the URL of a file behind a FaultProxy with these faults."""
    with storing() as store, FaultProxy(store.url) as proxy:
        store.files[FILE] = DATA
        proxy.injector.attach(FaultPlan(faults))
        yield f"{proxy.url}{FILE}"


@contextmanager
def _pyfakefs() -> Iterator[Any]:
    with Patcher() as patcher:
        assert patcher.fs is not None
        patcher.fs.create_file("/disk/file", contents=DATA)
        yield patcher.fs


@contextmanager
def _moto(**settings: Any) -> Iterator[Any]:
    """Return a client with the bucket `bucket`, in the process."""
    with mock_aws():
        client = boto3.client("s3", **_KEYS, **settings)
        client.create_bucket(Bucket="bucket")
        yield client


def _raises(call: Callable[[], object], *errors: type[BaseException]) -> bool:
    try:
        call()
    except errors:
        return True
    return False


def _pattern(calls: Sequence[Callable[[], object]], error: type[BaseException]) -> list[bool]:
    """Return which of the calls fail."""
    return [_raises(call, error) for call in calls]


SECOND = "the second of three reads fails"


@_probe(SECOND, "fake")
def _second_of_fake() -> bool:
    fake = FakeFileSystem(retries=0)
    fake.write("/file", DATA)
    fake.attach(Fault.reset(operation="get", nth=2))
    fs = fake.as_fsspec()
    return _pattern([lambda: fs.cat_file("/file")] * 3, ConnectionError) == [False, True, False]


@_probe(SECOND, "FaultProxy")
def _second_of_proxy() -> bool:
    with _proxied(Fault.reset(operation="get", nth=2)) as url:
        reads = [lambda: requests.get(url, timeout=60)] * 3
        return _pattern(reads, requests.ConnectionError) == [False, True, False]


@_probe(SECOND, "responses")
def _second_of_responses() -> bool:
    with responses.RequestsMock(registry=OrderedRegistry) as mock:
        for body in (DATA, requests.ConnectionError("reset"), DATA):
            mock.get(_URL, body=body)
        reads = [lambda: requests.get(_URL, timeout=60)] * 3
        return _pattern(reads, requests.ConnectionError) == [False, True, False]


@_probe(SECOND, "pyfakefs")
def _second_of_pyfakefs() -> bool:
    """Permissions are the one fault of a read, and an open file keeps those that it had."""
    with _pyfakefs(), open("/disk/file", "rb", buffering=0) as file:
        file.read(1)
        os.chmod("/disk/file", 0)
        return _raises(lambda: file.read(1), OSError)


BROKEN_BODY = "a body ends before its announced length"


@_probe(BROKEN_BODY, "fake")
def _broken_body_of_fake() -> bool:
    fake = FakeFileSystem(retries=0)
    fake.write("/file", DATA)
    fake.attach(Fault.cut_body(100))
    return _raises(lambda: fake.as_fsspec().cat_file("/file"), OSError)


@_probe(BROKEN_BODY, "FaultProxy")
def _broken_body_of_proxy() -> bool:
    with _proxied(Fault.cut_body(100)) as url:
        return _raises(
            lambda: requests.get(url, timeout=60), requests.exceptions.ChunkedEncodingError
        )


@_probe(BROKEN_BODY, "responses")
def _broken_body_of_responses() -> bool:
    with responses.RequestsMock() as mock:
        mock.get(_URL, body=DATA[:100], headers={"Content-Length": str(len(DATA))})
        return _raises(
            lambda: requests.get(_URL, timeout=60), requests.exceptions.ChunkedEncodingError
        )


LOST = "a write takes place, and its answer is lost"


@_probe(LOST, "fake")
def _lost_of_fake() -> bool:
    fake = FakeFileSystem(retries=0)
    fs = fake.as_fsspec()
    fake.attach(Fault.lost_ack(operation="put"))
    return (
        _raises(lambda: fs.pipe_file("/file", b"new"), OSError) and fs.cat_file("/file") == b"new"
    )


@_probe(LOST, "responses")
def _lost_of_responses() -> bool:
    """The test writes the store."""
    stored = []

    def put(request: Any) -> Exception:
        stored.append(request.body)
        return OSError("reset")

    with responses.RequestsMock() as mock:
        mock.add_callback(responses.PUT, _URL, put)
        write = lambda: requests.put(_URL, data=b"new", timeout=60)  # noqa: E731
        return _raises(write, OSError) and stored == [b"new"]


@_probe(LOST, "FaultProxy")
def _lost_of_proxy() -> bool:
    """Writes pass."""
    with _proxied(Fault.reset(times="all")) as url:
        return _raises(lambda: requests.put(url, data=b"new", timeout=60), requests.ConnectionError)


HOUR = "an answer takes an hour, and the test does not wait"


@_probe(HOUR, "fake")
def _hour_of_fake() -> bool:
    fake = FakeFileSystem(retries=0, deadline=10_000)
    fake.write("/file", DATA)
    fake.attach(Fault.hang(3600, operation="get"))
    begun = time.monotonic()
    fake.as_fsspec().cat_file("/file")
    return fake.clock.now > 3600 and time.monotonic() - begun < 600


@_probe(HOUR, "FaultProxy")
def _hour_of_proxy() -> bool:
    """It really waits, until the client ends."""
    with _proxied(Fault.hang(3600, operation="get")) as url:
        return not _raises(lambda: requests.get(url, timeout=0.5), requests.Timeout)


FULL = "a full disk"


@_probe(FULL, "fake")
def _full_of_fake() -> bool:
    fake = FakeFileSystem()
    fake.attach(Fault.quota(10))
    return _raises(lambda: fake.as_fsspec().pipe_file("/file", bytes(11)), OSError)


@_probe(FULL, "pyfakefs")
def _full_of_pyfakefs() -> bool:
    with _pyfakefs() as fs:
        fs.set_disk_usage(len(DATA) + 10)
        return _raises(lambda: pathlib.Path("/disk/new").write_bytes(bytes(11)), OSError)


DENIED = "a file without permission"


@_probe(DENIED, "fake")
def _denied_of_fake() -> bool:
    fake = FakeFileSystem()
    fake.write("/file", DATA)
    fake.set_permission("/file", 0)
    return _raises(lambda: fake.as_fsspec().cat_file("/file"), PermissionError)


@_probe(DENIED, "pyfakefs")
def _denied_of_pyfakefs() -> bool:
    with _pyfakefs() as fs:
        set_uid(1000)
        fs.chmod("/disk/file", 0)
        try:
            return _raises(lambda: open("/disk/file", "rb").close(), PermissionError)
        finally:
            set_uid(None)  # type: ignore[arg-type] # that of the process


PLAIN = "code that uses `open` and `pathlib`"


@_probe(PLAIN, "fake")
def _plain_of_fake() -> bool:
    with mount_fake() as fake:
        fake.write("/only/in/the/fake", DATA)
        return pathlib.Path("/only/in/the/fake").exists()


@_probe(PLAIN, "pyfakefs")
def _plain_of_pyfakefs() -> bool:
    with _pyfakefs(), open("/disk/file", "rb") as file:
        return file.read() == DATA == pathlib.Path("/disk/file").read_bytes()


NATIVE = "a library in C++ that is given a filesystem or a path (PyArrow)"


@_probe(NATIVE, "fake")
def _native_of_fake() -> bool:
    fake = FakeFileSystem()
    fake.write("/file", DATA)
    fs = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(fake.as_fsspec()))
    with fs.open_input_file("/file") as file:
        return bool(file.read() == DATA)


@_probe(NATIVE, "pyfakefs")
def _native_of_pyfakefs() -> bool:
    with _pyfakefs():
        try:
            pyarrow.fs.LocalFileSystem().open_input_file("/disk/file").close()
        except FileNotFoundError:
            return False
        return True


OTHER_PROCESS = "a client in another process or language"
_CLIENT = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()"


def _from_another_process(code: str, *arguments: str) -> bool:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=600).returncode == 0


@_probe(OTHER_PROCESS, "fake")
def _process_of_fake() -> bool:
    with mount_fake() as fake:
        fake.write("/file", DATA)
        with fsspec.open("fake:///file") as file:
            assert file.read() == DATA
        code = "import fsspec; fsspec.open('fake:///file').open().read()"
        return _from_another_process(code)


@_probe(OTHER_PROCESS, "FaultProxy")
def _process_of_proxy() -> bool:
    with _proxied(Fault.reset(operation="get")) as url:
        return not _from_another_process(_CLIENT, url) and _from_another_process(_CLIENT, url)


@_probe(OTHER_PROCESS, "moto")
def _process_of_moto() -> bool:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        return _from_another_process(_CLIENT, f"http://{host}:{port}/moto-api/")
    finally:
        server.stop()


@_probe(OTHER_PROCESS, "pyfakefs")
def _process_of_pyfakefs() -> bool:
    with _pyfakefs() as fs:
        fs.pause()
        return _from_another_process("import sys; open(sys.argv[1])", "/disk/file")


ANY_URL = "code that requests any URL with `requests`"


@_probe(ANY_URL, "responses")
def _any_url_of_responses() -> bool:
    with responses.RequestsMock() as mock:
        mock.get(_URL, body=DATA)
        return bool(requests.get(_URL, timeout=60).content == DATA)


VERSIONS = "older versions of an object"


@_probe(VERSIONS, "moto")
def _versions_of_moto() -> bool:
    with _moto() as client:
        enabled = {"Status": "Enabled"}
        client.put_bucket_versioning(Bucket="bucket", VersioningConfiguration=enabled)
        old = client.put_object(Bucket="bucket", Key="file", Body=b"old")["VersionId"]
        client.put_object(Bucket="bucket", Key="file", Body=b"new")
        answer = client.get_object(Bucket="bucket", Key="file", VersionId=old)
        return bool(answer["Body"].read() == b"old")


CONDITIONAL = "a write that must not replace a file is refused"


@_probe(CONDITIONAL, "fake")
def _conditional_of_fake() -> bool:
    fake = FakeFileSystem()
    fake.write("/file", b"old")

    def create() -> None:
        with fake.create("/file", overwrite=False) as file:
            file.write(b"new")

    return _raises(create, FileExistsError) and fake.as_fsspec().cat_file("/file") == b"old"


@_probe(CONDITIONAL, "moto")
def _conditional_of_moto() -> bool:
    with _moto() as client:
        client.put_object(Bucket="bucket", Key="file", Body=b"old")
        return _raises(
            lambda: client.put_object(Bucket="bucket", Key="file", Body=b"new", IfNoneMatch="*"),
            ClientError,
        )


@_probe(CONDITIONAL, "pyfakefs")
def _conditional_of_pyfakefs() -> bool:
    with _pyfakefs():
        return _raises(lambda: open("/disk/file", "xb").close(), FileExistsError)
