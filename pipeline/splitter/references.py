"""What was seen of files, so that new and modified ones can be told from the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from fscontract.contract.errors import IllegalArgumentException
from fscontract.contract.ports import FileStatus
from fscontract.pipeline.blocks import FileInfo


class Reference(NamedTuple):
    """By what two listings of one path are compared. Of a directory it is only that it is one."""

    modification_time: float
    length: int
    etag: str | None
    is_directory: bool = False

    @classmethod
    def of(cls, status: FileStatus) -> Reference:
        """What a status says."""
        if status.is_directory:
            return cls(0.0, 0, None, True)
        return cls(status.modification_time, status.length, status.etag)


@dataclass(frozen=True, slots=True)
class ScannedFileInfo(FileInfo):
    """A file that a scan found below `input`, with what the listing said of it."""

    input: str
    status: FileStatus

    @property
    def reference(self) -> Reference:
        """By what the next listing is compared."""
        return Reference.of(self.status)


class ReferenceTimes:
    """The references of files by input and path.

    By input, because a file below two inputs is found once for each; by the path that is listed,
    which is the same however the input is written.
    """

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, Reference]] = {}

    def get(self, place: str, path: str) -> Reference | None:
        """What was seen of this path below this input."""
        return self._seen.get(place, {}).get(path)

    def set(self, place: str, path: str, reference: Reference) -> None:
        """Keep what was seen."""
        self._seen.setdefault(place, {})[path] = reference

    def discard(self, place: str, path: str, reference: Reference) -> None:
        """Forget this reference, if it is still the one that is kept."""
        known = self._seen.get(place, {})
        if known.get(path) == reference:
            del known[path]

    def __len__(self) -> int:
        return sum(map(len, self._seen.values()))

    def to_data(self) -> dict[str, dict[str, list[Any]]]:
        """As plain data for JSON."""
        return {
            place: {path: list(reference) for path, reference in known.items()}
            for place, known in self._seen.items()
        }

    @classmethod
    def from_data(cls, data: Any) -> ReferenceTimes:
        """What `to_data` gave; IllegalArgumentException."""
        self = cls()
        try:
            for place, path, values in _entries(data):
                self.set(place, path, reference_of(values))
        except (AttributeError, TypeError, ValueError):
            raise IllegalArgumentException("these are no reference times") from None
        return self


def _entries(data: Any) -> Iterator[tuple[str, str, Any]]:
    for place, known in data.items():
        for path, values in known.items():
            yield place, path, values


def reference_of(values: Any) -> Reference:
    """A reference that was written as a list; TypeError or ValueError for what is none."""
    time, length, etag, is_directory = values
    if type(length) is not int or not isinstance(etag, str | None):
        raise TypeError("no reference")
    return Reference(float(time), length, etag, bool(is_directory))
