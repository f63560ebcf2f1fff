"""What goes wrong with the files of a metadata table."""

from __future__ import annotations

from fscontract.contract.errors import PathIOException


class MetadataException(PathIOException):
    """A metadata table that can't be used as it is."""


class CorruptFileException(MetadataException):
    """A file whose bytes are not what was written; `offset` is where that was noticed."""

    def __init__(self, path: str, offset: int, message: str) -> None:
        super().__init__(path, f"{message}, at offset {offset}")
        self.offset = offset


class LockedException(MetadataException):
    """Another writer has the table."""


class RolledBackException(MetadataException):
    """An action that another writer has taken back, because it took it for a failed one."""


class MetadataWarning(UserWarning):
    """The metadata table is not used or not right, so files are listed; or it lacks ranges."""
