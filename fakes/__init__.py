"""Filesystems and servers that fail on purpose: a fake store, a fault proxy, HTTP and S3."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fscontract.contract.binding import PlanInjector as PlanInjector
    from fscontract.contract.program.faults import Fault as Fault
    from fscontract.contract.program.faults import FaultPlan as FaultPlan
    from fscontract.fakes.fault_proxy.server import FaultProxy as FaultProxy
    from fscontract.fakes.faulty_fsspec import AsyncFaultyFileSystem as AsyncFaultyFileSystem
    from fscontract.fakes.faulty_fsspec import FaultyFileSystem as FaultyFileSystem
    from fscontract.fakes.faulty_local import FaultyLocalFileSystem as FaultyLocalFileSystem
    from fscontract.fakes.filesystem.checks import mount_fake as mount_fake
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem as FakeFileSystem
    from fscontract.fakes.filesystem.requests import Latency as Latency
    from fscontract.fakes.filesystem.tree import Consistency as Consistency
    from fscontract.fakes.recording import Recording as Recording
    from fscontract.fakes.recording import record as record
    from fscontract.fakes.recording import replay as replay
    from fscontract.fakes.servers.http_server import HttpServer as HttpServer
    from fscontract.fakes.servers.s3_server import S3Server as S3Server

__all__ = [
    "AsyncFaultyFileSystem",
    "Consistency",
    "FakeFileSystem",
    "Fault",
    "FaultPlan",
    "FaultProxy",
    "FaultyFileSystem",
    "FaultyLocalFileSystem",
    "HttpServer",
    "Latency",
    "PlanInjector",
    "Recording",
    "S3Server",
    "mount_fake",
    "record",
    "replay",
]

_SOURCES = {
    "AsyncFaultyFileSystem": "fakes.faulty_fsspec",
    "Consistency": "fakes.filesystem.tree",
    "FakeFileSystem": "fakes.filesystem.filesystem",
    "Fault": "contract.program.faults",
    "FaultPlan": "contract.program.faults",
    "FaultProxy": "fakes.fault_proxy.server",
    "FaultyFileSystem": "fakes.faulty_fsspec",
    "FaultyLocalFileSystem": "fakes.faulty_local",
    "HttpServer": "fakes.servers.http_server",
    "Latency": "fakes.filesystem.requests",
    "PlanInjector": "contract.binding",
    "Recording": "fakes.recording",
    "S3Server": "fakes.servers.s3_server",
    "mount_fake": "fakes.filesystem.checks",
    "record": "fakes.recording",
    "replay": "fakes.recording",
}


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module 'fscontract.fakes' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"fscontract.{_SOURCES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
