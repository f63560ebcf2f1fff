"""What the commands do that change a metadata table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import click

from fscontract.contract.ports import FileSystem
from fscontract.contract.targets import UsageError, mask_url
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.commands.common import one_line
from fscontract.pipeline.commands.inputs import inputs
from fscontract.pipeline.metadata.commands.session import remembered
from fscontract.pipeline.metadata.errors import MetadataException
from fscontract.pipeline.metadata.listing import listing
from fscontract.pipeline.metadata.locks import LOCKS, FileLock
from fscontract.pipeline.metadata.place import place_of
from fscontract.pipeline.metadata.write import MetadataWriter


@dataclass(frozen=True)
class Dataset:
    """A dataset that a user named, and where its table is, if not in it."""

    fs: FileSystem
    path: str
    url: str
    directory: str | None

    @property
    def table(self) -> str:
        """Where the table is, as the user would write it."""
        return self.directory or f"{self.url.rstrip('/')}/.hoodie/metadata"

    def writer(self) -> MetadataWriter:
        """A writer that others wait for."""
        at = f"{self.directory}.locks" if self.directory else f"{self.path}/{LOCKS}"
        lock = FileLock(self.fs, at)
        return MetadataWriter(self.fs, self.path, directory=self.directory, lock=lock)


@contextmanager
def opened(url: str, options: Mapping[str, str], directory: str | None) -> Iterator[Dataset]:
    """The dataset at a URL; whatever goes wrong is one line."""
    with one_line(options):
        (found,) = inputs([url], options)
        where = directory or remembered(url)
        if where is not None:
            (other,) = inputs([where], options)
            if other.place != found.place:
                raise UsageError(f"{mask_url(where)}: not in the storage of the dataset")
            where = bare_path(other.path)
        fs = found.place.make()
        try:
            path = bare_path(found.path).rstrip("/")
            if not fs.get_file_status(path or "/").is_directory:
                raise UsageError(f"{url}: not a directory")
            yield Dataset(fs, path, url, where)
        finally:
            getattr(fs, "close", lambda: None)()


def created(dataset: Dataset, name: str) -> None:
    """Make the table."""
    start = time.monotonic()
    dataset.writer().initialize(
        name, lister=lambda fs, path: listing(fs, path, _progress if _is_shown() else None)
    )
    click.echo(f"Created Metadata Table in {dataset.table} ({_duration(start)})")


def deleted(dataset: Dataset) -> None:
    """Delete the table."""
    if not dataset.writer().drop():
        raise MetadataException(dataset.path, "the dataset has no metadata table")
    click.echo(f"Deleted Metadata Table in {dataset.table}")


def updated(dataset: Dataset) -> None:
    """Bring the table up to date."""
    _has_table(dataset)
    start = time.monotonic()
    applied = dataset.writer().sync()
    click.echo(
        f"Updated Metadata Table in {dataset.table}: {len(applied)} instants ({_duration(start)})"
    )


def compacted(dataset: Dataset) -> None:
    """Compact and clean the table."""
    _has_table(dataset)
    writer = dataset.writer()
    start = time.monotonic()
    instant = writer.compact()
    if instant is None:
        raise MetadataException(dataset.path, "an action is in the table that is not completed")
    removed = writer.clean_table(2)
    click.echo(
        f"Compacted Metadata Table in {dataset.table} at {instant.time}, "
        f"{len(removed)} files removed ({_duration(start)})"
    )


def _has_table(dataset: Dataset) -> None:
    if not place_of(dataset.path, dataset.directory).exists(dataset.fs):
        raise MetadataException(dataset.path, "the dataset has no metadata table")


def _duration(start: float) -> str:
    return f"duration={time.monotonic() - start:.2f}sec"


def _is_shown() -> bool:
    return sys.stderr.isatty()


def _progress(directories: int, files: int) -> None:
    click.echo(f"{directories} directories listed, {files} files", err=True)
