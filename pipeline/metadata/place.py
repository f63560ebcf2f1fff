"""Where a dataset's metadata table is, and what says that it is there."""

from __future__ import annotations

from dataclasses import dataclass

from fscontract.contract.ports import FileSystem
from fscontract.pipeline.metadata.names import FILES, METADATA, PROPERTIES
from fscontract.pipeline.metadata.properties import PARTITIONS, read_properties


@dataclass(frozen=True)
class Place:
    """A dataset at `path` whose metadata table is in the directory `metadata`.

    The partitions of the table that can be used stand in the properties at `marker`.
    """

    path: str
    metadata: str
    marker: str

    def properties(self, fs: FileSystem) -> dict[str, str]:
        """What the marker says; nothing if it is not there. MetadataException if it is damaged."""
        try:
            return read_properties(fs, self.marker)
        except FileNotFoundError:
            return {}

    def exists(self, fs: FileSystem) -> bool:
        """Whether there is a table that can be used."""
        return FILES in self.properties(fs).get(PARTITIONS, "").split(",")


def place_of(path: str, directory: str | None = None) -> Place:
    """The place of a dataset's table: as Hudi has it, or in a directory of its own.

    Elsewhere than in the dataset, the table's own properties say that it is there, so that
    nothing has to be written into the dataset.
    """
    path = path.rstrip("/")
    if directory is None:
        return Place(path, f"{path}/{METADATA}", f"{path}/{PROPERTIES}")
    directory = directory.rstrip("/")
    return Place(path, directory, f"{directory}/{PROPERTIES}")
