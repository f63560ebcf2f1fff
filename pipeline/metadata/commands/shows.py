"""What the commands show of a metadata table, or of a dataset without one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from fscontract.contract.models.metadata import difference
from fscontract.contract.ports import FileStatus
from fscontract.contract.suite.report.text import printable
from fscontract.pipeline.metadata.commands.work import Dataset, check_table, warnings_as_lines
from fscontract.pipeline.metadata.errors import MetadataException
from fscontract.pipeline.metadata.files import list_files
from fscontract.pipeline.metadata.listing import FileListing
from fscontract.pipeline.metadata.payload import NO_PARTITION
from fscontract.pipeline.metadata.place import place_of
from fscontract.pipeline.metadata.slices import last_compaction, latest_slices
from fscontract.pipeline.metadata.table import MetadataTable
from fscontract.pipeline.metadata.unsynced import unsynced

_T = TypeVar("_T")


def show_stats(dataset: Dataset, as_json: bool) -> None:
    """How big and how new the table is, under the names that Hudi's command has."""
    place = place_of(dataset.path, dataset.directory)
    with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
        slices = [
            each
            for partition in sorted(table.partitions)
            for each in latest_slices(
                list_files(dataset.fs, f"{place.metadata}/{partition}"), table.timeline
            )
        ]
        bases = [each.base.length for each in slices if each.base is not None]
        logs = [log.status.length for each in slices for log in each.logs]
        shown: dict[str, Any] = {
            "Base path": dataset.url,
            "partitionCount": len(table.list_partitions()),
            "lastCompactionTimestamp": last_compaction(table.timeline) or "none",
            "isInSync": not unsynced(table.data_timeline, table.timeline),
            "logFileCount": len(logs),
            "totalBaseFileSizeInBytes": sum(bases),
            "totalLogFileSizeInBytes": sum(logs),
            "baseFileCount": len(bases),
        }
    if as_json:
        click.echo(json.dumps(shown))
        return
    for name, value in shown.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        click.echo(f"{name}: {printable(text)}")


def show_partitions(dataset: Dataset, as_json: bool) -> None:
    """The partitions, one a line."""
    found = _timed(dataset, "partitions", lambda files: files.list_partitions())
    _show(found, [name or "." for name in found], as_json)


def show_files(dataset: Dataset, partition: str | None, as_json: bool) -> None:
    """The files of a partition, or of all, each behind its size."""

    def listed(files: FileListing) -> list[FileStatus]:
        if partition is None:
            return [each for found in files.list_all().values() for each in found]
        return files.list_files("" if partition == NO_PARTITION else partition.strip("/"))

    found = _timed(dataset, "files", listed)
    start = len(dataset.path.rstrip("/")) + 1
    named = [
        (each.path[start:] if partition is None else each.path.rpartition("/")[2], each.length)
        for each in found
    ]
    _show(
        [{"name": name, "size": size} for name, size in named],
        [f"{size:>12} {name}" for name, size in named],
        as_json,
    )


def show_differences(dataset: Dataset) -> bool:
    """What differs between the table and a listing, and what mends it; whether nothing does."""
    check_table(dataset)
    mends = f"{dataset.command('rebuild')} makes it anew"
    try:
        with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
            known = {partition: _sizes(statuses) for partition, statuses in table.list_all()}
    except MetadataException as error:
        raise MetadataException(dataset.path, f"{error}; {printable(mends)}") from error
    listed = FileListing(dataset.fs, dataset.path, enabled=False).list_all()
    found = {partition: _sizes(statuses) for partition, statuses in listed.items()}
    wrong = difference(known, found)
    count = sum(map(len, found.values()))
    click.echo(
        f"the table differs from the files: {printable(wrong)}; {printable(mends)}"
        if wrong
        else f"the table is right: {len(found)} partitions, {count} files"
    )
    return not wrong


def _sizes(statuses: list[FileStatus]) -> dict[str, int]:
    return {each.path.rpartition("/")[2]: each.length for each in statuses}


def _timed(dataset: Dataset, what: str, question: Callable[[FileListing], _T]) -> _T:
    """An answer; on stderr where it comes from, how long it took, and what is wrong."""
    start = time.monotonic()
    with (
        warnings_as_lines(),
        FileListing(dataset.fs, dataset.path, **dataset.settings) as files,
    ):
        found = question(files)
        source = "the metadata table" if files.uses_table else "listing"
    seconds = time.monotonic() - start
    click.echo(f"{_count(found)} {what} by {source} (duration={seconds:.2f}sec)", err=True)
    return found


def _count(found: Any) -> int:
    return len(found)


def _show(as_data: Any, lines: list[str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(as_data))
    else:
        for line in lines:
            click.echo(printable(line.replace("\n", "\\n")))
