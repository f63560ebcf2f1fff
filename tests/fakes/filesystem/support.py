"""Helpers that several test modules use."""

from __future__ import annotations

from collections.abc import Iterable

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.filesystem.filesystem import FakeFileSystem


def plan(*faults: Fault) -> FaultPlan:
    """A plan of these faults."""
    return FaultPlan(faults)


def outcomes(fs: FakeFileSystem, operation: str = "get") -> list[str]:
    """Return the outcomes of the requests of an operation so far."""
    return [request.outcome for request in fs.store.requests if request.operation == operation]


def replicas(fs: FakeFileSystem) -> list[int | None]:
    """Return the replicas that were read, in order."""
    return [request.replica for request in fs.store.requests if request.operation == "get"]


def pread(stream: FSDataInputStream, position: int, length: int) -> bytes:
    """Bytes of a positioned read."""
    buffer = bytearray(length)
    return bytes(buffer[: max(0, stream.pread(position, buffer))])


def read(fs: FakeFileSystem, path: str) -> bytes:
    """The content of a file, as a reader gets it."""
    with fs.open(path) as stream:
        return pread(stream, 0, stream.available())


def names(fs: FakeFileSystem, path: str = "/") -> list[str]:
    """Return the listing of a directory."""
    return [status.path for status in fs.list_status(path)]


def total(seconds: Iterable[float]) -> float:
    """A sum, rounded to what tests compare."""
    return round(sum(seconds), 6)
