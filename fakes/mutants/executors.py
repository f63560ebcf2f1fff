"""Mutants of executors, which see another version of a driver's file than the driver."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.correct_parts import View
from fscontract.fakes.mutants.registry import mutant


@mutant("executors.length")
class OldLength(View):
    """The status has the length of an older version."""

    def other_status(self, status: FileStatus) -> FileStatus:
        """Return the status of a shorter file."""
        return replace(status, length=status.length - 1)


@mutant("executors.version")
class OtherVersion(View):
    """The status has a version that differs from the driver's."""

    def other_status(self, status: FileStatus) -> FileStatus:
        """Return the status of another version."""
        return replace(status, etag=f"{status.etag}-there")


@mutant("executors.bytes")
class OldBytes(View):
    """Reads return an older version of the same length."""

    def other_data(self, data: bytes) -> bytes:
        """Return the bytes with one changed."""
        return data[:-1] + bytes([data[-1] ^ 1])


@mutant("executors.bytes")
class NotReadable(View):
    """The status is correct, but the file can't be opened."""

    def other_data(self, data: bytes) -> bytes:
        """Return None."""
        raise FileNotFoundException("", "no such mount")
