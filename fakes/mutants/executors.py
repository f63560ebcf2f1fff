"""What executors may see of the files of their driver: what is there, or something else."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fscontract.contract.errors import FileNotFoundException
from fscontract.contract.ports import FileStatus
from fscontract.fakes.mutants.registry import says
from fscontract.implementations.bindings.stream import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.options import OpenOptions


class View(MemoryFileSystem):
    """The files of another filesystem in memory, as they are."""

    def __init__(self, other: MemoryFileSystem) -> None:
        super().__init__()
        self._other = other

    def get_file_status(self, path: str) -> FileStatus:
        """That of the other filesystem, or of a file that was written here."""
        try:
            return super().get_file_status(path)
        except FileNotFoundException:
            return self.other_status(self._other.get_file_status(path))

    def other_status(self, status: FileStatus) -> FileStatus:
        """The status of a file of the other filesystem, as it is seen here."""
        return status

    def other_data(self, data: bytes) -> bytes:
        """The bytes of a file of the other filesystem, as they are seen here."""
        return data

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        try:
            return super()._open(path, options)
        except FileNotFoundException:
            seen = self._other._open(path, OpenOptions())
            return MemoryInputStream(self.other_data(seen._data), path)


class OldLength(View):
    """The status has the length of an older version."""

    def other_status(self, status: FileStatus) -> FileStatus:
        """A shorter file."""
        return replace(status, length=status.length - 1)


class OtherVersion(View):
    """The status has a version that the driver does not know."""

    def other_status(self, status: FileStatus) -> FileStatus:
        """Another version."""
        return replace(status, etag=f"{status.etag}-there")


class OldBytes(View):
    """What is read is an older version, of the same length."""

    def other_data(self, data: bytes) -> bytes:
        """Bytes of which one is another."""
        return data[:-1] + bytes([data[-1] ^ 1])


class NotReadable(View):
    """The status is that of the file, which can't be opened."""

    def other_data(self, data: bytes) -> bytes:
        """None."""
        raise FileNotFoundException("", "no such mount")


@dataclass(frozen=True)
class ExecutorMutant:
    """What breaks `clause`: `view` makes what executors see of a driver's files."""

    clause: str
    view: type[View]

    def __str__(self) -> str:
        return f"{self.clause}-{self.name}"

    @property
    def name(self) -> str:
        """That of its view."""
        return self.view.__name__

    @property
    def says(self) -> str:
        """What it does wrong, in one sentence."""
        return says(self.view)

    def binding(self, files: MemoryFileSystem) -> StreamBinding:
        """What an executor has, where `files` are those of the driver."""
        return StreamBinding(self.view(files), str(self))


EXECUTOR_MUTANTS = (
    ExecutorMutant("executors.length", OldLength),
    ExecutorMutant("executors.version", OtherVersion),
    ExecutorMutant("executors.bytes", OldBytes),
    ExecutorMutant("executors.bytes", NotReadable),
)
