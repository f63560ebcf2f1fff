"""What an executor sees of a driver's files, which mutants of executors derive from."""

from __future__ import annotations

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions


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
            stream = self._other._open(path, OpenOptions())
            return MemoryInputStream(self.other_data(stream.data), path)
