"""Instants of a dataset that its metadata table does not have yet, and what they changed."""

from __future__ import annotations

from collections.abc import Iterable

from fscontract.contract.ports import FileSystem
from fscontract.pipeline.metadata.changes import Change, decode_change
from fscontract.pipeline.metadata.files import read_file
from fscontract.pipeline.metadata.names import FIRST_INSTANT, TIMELINE
from fscontract.pipeline.metadata.timeline import COMPLETED, Instant, Timeline


def unsynced(data: Timeline, metadata: Timeline) -> list[Instant]:
    """The completed instants of the dataset without a deltacommit of that time, in
    the order in which they were completed.

    What was completed before the table was made is in it from the beginning.
    """
    began = first_completion(metadata)
    found = [
        each
        for each in data.instants.values()
        if each.state == COMPLETED
        and (each.completed or "") > began
        and not metadata.holds(each.time)
    ]
    return sorted(found, key=lambda each: each.completed or "")


def first_completion(metadata: Timeline) -> str:
    """When the table was made, empty if its timeline does not go back so far."""
    first = FIRST_INSTANT[:14]
    return max((end for time, end in metadata.completed.items() if time[:14] == first), default="")


def changes_of(fs: FileSystem, path: str, instants: Iterable[Instant]) -> list[Change]:
    """What each of these instants says that it changed; MetadataException if one is damaged."""
    changes = []
    for instant in instants:
        file = f"{path}/{TIMELINE}/{instant.file_name}"
        changes.append(decode_change(instant.action, read_file(fs, file), file))
    return changes
