"""Mutants of opens that a fault strikes."""

from __future__ import annotations

from fscontract.contract.errors import EOFException
from fscontract.fakes.filesystem.failures import RequestFailed, SlowDown
from fscontract.fakes.filesystem.stream import FakeInputStream
from fscontract.fakes.mutants.faults.registry import StoredFiles, fault_mutant
from fscontract.implementations.options import OpenOptions


@fault_mutant("fault.open", "throttle")
class OpenLosesPatience(StoredFiles):
    """An open that the busy store refuses ends in an exception that is no IOException."""

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        try:
            return super()._open(path, options)
        except SlowDown as error:
            raise RuntimeError(f"gave up: {error}") from error


@fault_mutant("fault.end", "reset", "descriptors")
class OpenIsEof(StoredFiles):
    """An open that fails says that the file ends."""

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        try:
            return super()._open(path, options)
        except RequestFailed as error:
            raise EOFException(f"no more of {path!r}") from error
