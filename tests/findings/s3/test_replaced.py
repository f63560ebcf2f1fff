"""Clients of S3 reading an object that is replaced meanwhile.

A proxy cuts the first answer, and the object is replaced before the client asks again; or nothing
fails, and it is replaced between two reads.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import obstore as obs
import opendal
import pytest
from obstore.exceptions import GenericError
from pyarrow.fs import S3FileSystem

from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.fault_proxy import FaultProxy
from servers.s3 import client_targets as targets
from servers.s3.client_targets import Place

SIZE, CUT = 20_000, 10_000
#: The first answer is cut, and what follows is well.
CUT_ONCE = FaultPlan((Fault("cut-body", nth=1, amount=CUT),))
NO_FAULT = FaultPlan()


class Replacing:
    """Replace an object of A by one of B before the second GET."""

    def __init__(self, place: Place) -> None:
        self._client, self._bucket = place.boto3, place.bucket
        self._gets = 0
        self._write(b"A")

    def __call__(self, method: str, _target: str) -> bool:
        """Count a request of the proxy."""
        if method != "GET":
            return False
        self._gets += 1
        if self._gets == 2:
            self._write(b"B")
        return True

    def _write(self, byte: bytes) -> None:
        self._client.put_object(Bucket=self._bucket, Key="k", Body=byte * SIZE)


def seen(
    place: Place, plan: FaultPlan, read: Callable[[Place], Any]
) -> tuple[list[tuple[int, str]], list[tuple[str, str | None]]]:
    """Return what `read` gives as runs of equal bytes, and its requests with their If-Match."""
    with FaultProxy(place.url, Replacing(place)) as proxy:
        proxy.injector.attach(plan)
        data = bytes(read(place._replace(url=proxy.url)))
        asked = [(r.method, r.headers.get("if-match")) for r in proxy.requests]
    return [(len(list(run)), chr(byte)) for byte, run in groupby(data)], asked


def _pyarrow(place: Place) -> Any:
    fs = S3FileSystem(**targets.options_of_pyarrow(place))
    return fs.open_input_file(f"{place.bucket}/k")


def _retried(place: Place) -> Any:
    return place.opendal.layer(opendal.layers.RetryLayer(min_delay=0.01))


def _s3fs(place: Place, **how: Any) -> Any:
    binding = targets.s3fs(place, "none")
    return binding.fs.open(f"{place.bucket}/k", **how)  # type: ignore[attr-defined]


def _smart(place: Place) -> Any:
    import smart_open

    parameters = {"client": place.boto3}
    return smart_open.open(f"s3://{place.bucket}/k", "rb", transport_params=parameters)


def _two_reads(file: Any) -> bytes:
    first = bytes(file.read(1000))
    file.seek(SIZE - 1000)
    return first + bytes(file.read(1000))


@pytest.mark.parametrize(
    "read",
    [
        lambda place: _retried(place).open("k", "rb").read(),
        lambda place: _retried(place).read("k"),
        lambda place: _retried(place).read("k", offset=0, size=SIZE),
    ],
)
def test_retry_of_opendal_mixes_two_versions(read: Callable[[Place], Any], place: Place) -> None:
    """Finding S1: it requests the rest of the body without If-Match."""
    found, asked = seen(place, CUT_ONCE, read)
    assert found == [(CUT, "A"), (SIZE - CUT, "B")]
    assert asked == [("GET", None), ("GET", None)]


def test_opendal_without_retries_raises(place: Place) -> None:
    """Comparison for S1: no wrong byte."""
    with pytest.raises(OSError, match="called: reqwest::fetch"):
        seen(place, CUT_ONCE, lambda there: there.opendal.open("k", "rb").read())


def test_retry_of_pyarrow_returns_the_new_object(place: Place) -> None:
    """Finding S2: complete, but not the object that was opened."""
    found, asked = seen(place, CUT_ONCE, lambda there: _pyarrow(there).read())
    assert found == [(SIZE, "B")]
    assert asked == [("HEAD", None), ("GET", None), ("GET", None)]


@pytest.mark.parametrize(
    "opened",
    [_pyarrow, lambda place: obs.open_reader(place.obstore, "k", buffer_size=1000)],
)
def test_two_reads_of_one_stream_return_two_versions(
    opened: Callable[[Place], Any], place: Place
) -> None:
    """Finding S2: neither PyArrow's files nor obstore's readers send If-Match."""
    found, asked = seen(place, NO_FAULT, lambda there: _two_reads(opened(there)))
    assert found == [(1000, "A"), (1000, "B")]
    assert asked == [("HEAD", None), ("GET", None), ("GET", None)]


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda place: obs.get(place.obstore, "k").bytes(), GenericError),
        (lambda place: obs.get_range(place.obstore, "k", start=0, end=SIZE), GenericError),
        (lambda place: obs.open_reader(place.obstore, "k").read(), OSError),
    ],
)
def test_retry_of_obstore_detects_the_replacement(
    read: Callable[[Place], Any], error: type[Exception], place: Place
) -> None:
    """Comparison for S1 and S2: the answer to the retry has another etag."""
    with pytest.raises(error, match="request or response body error"):
        seen(place, CUT_ONCE, read)


def test_s3fs_pins_the_opened_version(place: Place) -> None:
    """Comparison for S3: every GET has the etag of the HEAD."""
    with pytest.raises(OSError, match="no longer exists"):
        seen(place, NO_FAULT, lambda there: _two_reads(_s3fs(there)))


def test_given_size_makes_s3fs_drop_the_version(place: Place) -> None:
    """Finding S3: If-Match is missing although the HEAD is still sent."""
    found, asked = seen(place, NO_FAULT, lambda there: _two_reads(_s3fs(there, size=SIZE)))
    assert found == [(1000, "A"), (1000, "B")]
    assert asked == [("HEAD", None), ("GET", None), ("GET", None)]


def test_retry_of_smart_open_mixes_two_versions(place: Place) -> None:
    """Finding S1: it requests the rest from its position without If-Match."""

    def read(there: Place) -> bytes:
        file = _smart(there)
        return bytes(file.read(1000) + file.read())

    found, asked = seen(place, CUT_ONCE, read)
    assert {byte for _, byte in found} == {"A", "B"}
    assert asked == [("GET", None), ("GET", None)]


def test_cut_body_of_boto3_raises(place: Place) -> None:
    """Comparison for S1: a cut body is not requested again."""
    from botocore.exceptions import ResponseStreamingError

    with pytest.raises(ResponseStreamingError, match="IncompleteRead"):
        seen(
            place,
            CUT_ONCE,
            lambda there: there.boto3.get_object(Bucket=there.bucket, Key="k")["Body"].read(),
        )
