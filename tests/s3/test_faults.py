"""Our stream behind the fault proxy, on every server: right bytes or a clean error, in time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.fault_proxy.server import FaultProxy
from fscontract.implementations.s3.filesystem import S3FileSystem
from servers.s3.servers import NAMES
from servers.s3.signed import Server
from tests.s3.threads import no_thread_left

DATA = random.Random(4).randbytes(3_000_000)
#: Seconds after which a request is late, where the fault makes it so.
_SOON = 1.5
#: What passes: one more request, and the bytes are there.
PASSING = [
    Fault("short", 1, 3, amount=100_000),
    Fault("slow", 1, seconds=0.0000001),
    Fault("reset", 1),
    Fault("timeout", 1, seconds=30),
    Fault("throttle", 1, seconds=0),
    Fault("cut-body", 1, amount=0),
    Fault("cut-body", 1, amount=70_000),
    Fault("hang", 1, seconds=30),
]
#: What does not, or not any more.
STAYING = [
    Fault("range", 1),
    Fault("precondition", 1),
    Fault("delete", 1),
    Fault("revoke", 1),
    Fault("reset", 1, 1000),
    Fault("throttle", 1, 1000, seconds=0),
    Fault("cut-body", 1, 1000, amount=0),
    Fault("hang", 1, 1000, seconds=30),
]


#: Every server by the transport that is chosen for it, and one by the other.
WAYS = [*((name, "auto") for name in NAMES), ("moto", "boto3")]


@pytest.fixture(params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A server and a transport."""
    name, transport = request.param
    return name, transport


@pytest.fixture
def server(way: tuple[str, str], running: Callable[[str], Server]) -> Server:
    """The server of the way."""
    return running(way[0])


@pytest.fixture
def proxy(server: Server) -> Iterator[FaultProxy]:
    """A proxy before the server, after which no thread of a stream is left."""
    with no_thread_left(), FaultProxy(server.url, longest=2 * _SOON) as proxy:
        yield proxy


@pytest.fixture
def fs(
    way: tuple[str, str],
    server: Server,
    client: Any,
    bucket: str,
    proxy: FaultProxy,
    request: pytest.FixtureRequest,
) -> Iterator[S3FileSystem]:
    """A filesystem that reaches the store through the proxy.

    A request is late soon only where the fault is that it gets no answer; and what is only late
    for the machine is busy is asked for again, unless a fault stays.
    """
    callspec = getattr(request.node, "callspec", None)
    fault = callspec.params.get("fault") if callspec is not None else None
    waits = fault is not None and fault.kind in ("hang", "timeout")
    client.put_object(Bucket=bucket, Key="key", Body=DATA)
    with S3FileSystem(
        bucket,
        endpoint=proxy.url,
        access_key=server.access_key,
        secret_key=server.secret_key,
        region=server.region,
        transport=way[1],
        timeout=_SOON if waits else 300,
        retries=20 if fault in PASSING else 2,
    ) as filesystem:
        filesystem.open("/key").close()  # whatever a first request takes longer for
        yield filesystem


def opened(fs: S3FileSystem) -> FSDataInputStream:
    """The object, of which nothing is asked before it is read."""
    return fs.open_file("/key").build().result()


@pytest.mark.parametrize("fault", PASSING, ids=str)
def test_a_fault_that_passes_is_survived(fs: S3FileSystem, proxy: FaultProxy, fault: Fault) -> None:
    with proxy.injector.attached(FaultPlan((fault,))), opened(fs) as stream:
        found, buffer = bytearray(), bytearray(300_000)
        while (count := stream.read_into(buffer)) > 0:
            found += buffer[:count]
        assert proxy.injector.fired
    assert found == DATA


@pytest.mark.parametrize("fault", STAYING, ids=str)
def test_a_fault_that_stays_is_an_error_and_the_stream_can_be_closed(
    fs: S3FileSystem, proxy: FaultProxy, fault: Fault
) -> None:
    with opened(fs) as stream:
        with proxy.injector.attached(FaultPlan((fault,))):
            with pytest.raises(PathIOException):
                stream.read_byte()
            assert stream.get_pos() == 0
            assert proxy.injector.requests <= 4
        if fault.kind not in ("delete", "revoke"):
            assert stream.read_byte() == DATA[0]
            assert stream.get_pos() == 1


def test_other_streams_go_on(fs: S3FileSystem, proxy: FaultProxy) -> None:
    with opened(fs) as first, opened(fs) as second:
        second.read_byte()
        with proxy.injector.attached(FaultPlan((Fault("reset", 1, 1000),))):
            with pytest.raises(PathIOException):
                first.read_byte()
            assert second.read_byte() == DATA[1]
        buffer = bytearray(100)
        second.read_fully(2_000_000, buffer)
        assert buffer == DATA[2_000_000:2_000_100]
