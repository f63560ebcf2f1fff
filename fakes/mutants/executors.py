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
        """A shorter file."""
        return replace(status, length=status.length - 1)


@mutant("executors.version")
class OtherVersion(View):
    """The status has a version that the driver does not know."""

    def other_status(self, status: FileStatus) -> FileStatus:
        """Another version."""
        return replace(status, etag=f"{status.etag}-there")


@mutant("executors.bytes")
class OldBytes(View):
    """What is read is an older version, of the same length."""

    def other_data(self, data: bytes) -> bytes:
        """Bytes of which one is another."""
        return data[:-1] + bytes([data[-1] ^ 1])


@mutant("executors.bytes")
class NotReadable(View):
    """The status is that of the file, which can't be opened."""

    def other_data(self, data: bytes) -> bytes:
        """None."""
        raise FileNotFoundException("", "no such mount")
