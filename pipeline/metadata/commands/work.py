"""What the commands do that change a metadata table."""

from __future__ import annotations

import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from fscontract.contract.masking import mask_url
from fscontract.contract.ports import FileSystem
from fscontract.contract.suite.commands.common import say
from fscontract.contract.targets import UsageError
from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.commands.common import one_line
from fscontract.pipeline.commands.inputs import inputs
from fscontract.pipeline.metadata.changes import Sizes
from fscontract.pipeline.metadata.commands.session import remembered
from fscontract.pipeline.metadata.errors import MetadataException, MetadataWarning
from fscontract.pipeline.metadata.footers import read_statistics
from fscontract.pipeline.metadata.layout import Given, infer_properties
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
    max_block_bytes: int

    @property
    def table(self) -> str:
        """Where the table is, as the user would write it."""
        return self.directory or f"{self.url.rstrip('/')}/.hoodie/metadata"

    @property
    def settings(self) -> dict[str, Any]:
        """What all that reads or writes the table is given."""
        return {"directory": self.directory, "max_block_bytes": self.max_block_bytes}

    def command(self, name: str) -> str:
        """How a user would call a command for it."""
        words = ["fscontract", "metadata", name, mask_url(self.url)]
        words += ["--metadata-dir", self.directory] if self.directory is not None else []
        return shlex.join(words)

    def writer(self) -> MetadataWriter:
        """A writer that others wait for."""
        at = f"{self.directory}.locks" if self.directory else f"{self.path}/{LOCKS}"
        lock = FileLock(self.fs, at)
        return MetadataWriter(self.fs, self.path, lock=lock, **self.settings)


@contextmanager
def opened(
    url: str, options: Mapping[str, str], directory: str | None, max_block_bytes: int
) -> Iterator[Dataset]:
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
            yield Dataset(fs, path, url, where, max_block_bytes)
        finally:
            getattr(fs, "close", lambda: None)()


def given(partition_fields: str | None, record_key: str | None, schema: Path | None) -> Given:
    """Return what the options of `create` say; UsageError."""
    fields, key = (
        None if each is None else [name for name in each.split(",") if name]
        for each in (partition_fields, record_key)
    )
    if schema is None:
        return Given(fields, key)
    try:
        text = schema.read_text(encoding="utf-8")
        if not isinstance(parse_json(text), dict):
            raise ValueError("expected a record")
    except (OSError, ValueError) as error:
        raise UsageError(f"{schema} is not an Avro schema ({error})") from error
    return Given(fields, key, json.dumps(parse_json(text), separators=(",", ":")))


def created(dataset: Dataset, name: str, columns: str, spark: str | None, said: Given) -> None:
    """Make the table, with ranges of some columns, or of "all"; `spark` may list the files."""
    start = time.monotonic()
    with warnings_as_lines(), _lister(dataset, spark) as lister:
        dataset.writer().initialize(
            name,
            lister=lister,
            columns=None if columns == "all" else [each for each in columns.split(",") if each],
            reader=partial(read_statistics, progress=_footers if _is_shown() else None),
            infer=partial(infer_properties, given=said),
        )
    say(f"Created Metadata Table in {dataset.table} ({_duration(start)})")


def rebuilt(dataset: Dataset, spark: str | None) -> None:
    """Make the table anew; `spark` may list the files."""
    start = time.monotonic()
    with warnings_as_lines(), _lister(dataset, spark) as lister:
        progress = _footers if _is_shown() else None
        found = dataset.writer().rebuild(lister, partial(read_statistics, progress=progress))
    partitions = [files for files in found.added.values() if files]
    click.echo(
        f"Rebuilt Metadata Table in {dataset.table}: {len(partitions)} partitions, "
        f"{sum(map(len, partitions))} files ({_duration(start)})"
    )


def deleted(dataset: Dataset) -> None:
    """Delete the table."""
    if not dataset.writer().drop():
        raise MetadataException(dataset.path, "the dataset has no metadata table")
    say(f"Deleted Metadata Table in {dataset.table}")


def updated(dataset: Dataset) -> None:
    """Bring the table up to date."""
    check_table(dataset)
    start = time.monotonic()
    with warnings_as_lines():
        applied = dataset.writer().sync()
    say(f"Updated Metadata Table in {dataset.table}: {len(applied)} instants ({_duration(start)})")


def compacted(dataset: Dataset) -> None:
    """Compact and clean the table."""
    check_table(dataset)
    writer = dataset.writer()
    start = time.monotonic()
    instant = writer.compact()
    if instant is None:
        raise MetadataException(dataset.path, "an action is in the table that is not completed")
    removed = writer.clean_table(2)
    say(
        f"Compacted Metadata Table in {dataset.table} at {instant.time}, "
        f"{len(removed)} files removed ({_duration(start)})"
    )


@contextmanager
def _lister(dataset: Dataset, spark: str | None) -> Iterator[Callable[[FileSystem, str], Sizes]]:
    """What lists the dataset: this process, or tasks of Spark at a master."""
    progress = _progress if _is_shown() else None
    if spark is None:
        yield lambda fs, path: listing(fs, path, progress)
        return
    from fscontract.implementations.spark.places import place_of as spark_place
    from fscontract.pipeline.commands.onspark import spark_tasks
    from fscontract.pipeline.metadata.distributed import listing_by

    with spark_tasks(spark, [spark_place(dataset.fs)]) as tasks:
        yield lambda fs, path: listing_by(tasks, fs, path, progress)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Say on stderr, in a line each, what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for each in caught:
                if issubclass(each.category, MetadataWarning):
                    say(f"fscontract: warning: {each.message}", err=True)


def check_table(dataset: Dataset) -> None:
    """MetadataException if there is no table."""
    if not place_of(dataset.path, dataset.directory).exists(dataset.fs):
        raise MetadataException(dataset.path, "the dataset has no metadata table")


def _duration(start: float) -> str:
    return f"duration={time.monotonic() - start:.2f}sec"


def _is_shown() -> bool:
    return sys.stderr.isatty()


def _progress(directories: int, files: int) -> None:
    click.echo(f"{directories} directories listed, {files} files", err=True)


def _footers(read: int, files: int) -> None:
    click.echo(f"{read} of {files} footers read", err=True)
