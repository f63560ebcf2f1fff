"""Mutants that don't know when to give up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fscontract.fakes.filesystem.client import Client, Connection
from fscontract.fakes.filesystem.failures import RequestFailed, SlowDown
from fscontract.fakes.mutants.faults.registry import DiskFiles, fault_mutant

T = TypeVar("T")


@fault_mutant("fault.retries", "throttle")
class PatientClient(Client):
    """As long as the store says that it is busy, the request is made again."""

    def send(self, request: Callable[[], T]) -> T:
        while True:
            try:
                return super().send(request)
            except SlowDown as error:
                self.store.clock.advance(error.wait)


@fault_mutant("fault.retries", "reset", "corrupt", "cut-body")
class PatientReads(Connection):
    """A read, unlike an open, is tried until it works."""

    def read(self, position: int, view: memoryview) -> int:
        while True:
            try:
                return super().read(position, view)
            except RequestFailed as error:
                if not error.transient:
                    raise


@fault_mutant("fault.hang", "hang")
class NoDeadline(DiskFiles):
    """Whoever asks waits for an answer, however long that takes."""
