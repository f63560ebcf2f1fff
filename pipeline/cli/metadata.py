"""`fscontract metadata`: create, show and check the metadata table of a dataset.

Each command opens the dataset at URL, and prints errors on one line. `set` saves the directory of a
table that is outside its dataset.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.contract.command_line import TARGET_OPTION, say
from fscontract.contract.models.metadata_table import difference
from fscontract.contract.targets import UsageError
from fscontract.contract.text import mask_url, printable
from fscontract.contract.untrusted import UntrustedError, load_json, parse_json
from fscontract.implementations.spark.tasks import Tasks
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.cli.options import METRICS, inputs, one_line
from fscontract.pipeline.hudi.changes import Sizes, unsynced
from fscontract.pipeline.hudi.file_slices import last_compaction, latest_slices
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning
from fscontract.pipeline.hudi.io import list_files as list_folder
from fscontract.pipeline.hudi.layout import DeclaredProperties, infer_properties
from fscontract.pipeline.hudi.listing import (
    FileListing,
    files_by,
    listing,
    listing_by,
    sizes_of,
)
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.metrics import VALIDATE_ERRORS, VALIDATE_FILES, Metrics
from fscontract.pipeline.hudi.parquet_stats import StatisticsReader, read_statistics
from fscontract.pipeline.hudi.record_index import MAX_GROUPS
from fscontract.pipeline.hudi.records import NO_PARTITION
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import location_of
from fscontract.pipeline.hudi.timeline import COLUMN_STATS, PARTITION_STATS, RECORD_INDEX
from fscontract.pipeline.hudi.writer import MetadataWriter

_URL = click.argument("url", metavar="URL")
_DIRECTORY = click.option(
    "--metadata-dir",
    "directory",
    metavar="DIR",
    help="Directory of the table, if not in the dataset. Default: the directory saved by `set`.",
)
_MAX_BLOCK_BYTES = click.option(
    "--max-block-bytes",
    type=click.IntRange(min=1),
    default=MAX_BLOCK_BYTES,
    show_default=True,
    help="Treat the table as damaged if an uncompressed block exceeds this size.",
)
_PARTITION = click.option(
    "--partition",
    type=click.Choice([COLUMN_STATS, PARTITION_STATS, RECORD_INDEX]),
    help="Only this partition of the table.",
)
_SPARK = click.option(
    "--spark",
    metavar="MASTER",
    help="List with Spark tasks: local[4], spark://HOST:PORT, ...",
)
_VALIDATE = click.option(
    "--validate",
    is_flag=True,
    help="Also list the directories, warn of differences from the table, and print that listing.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_NO_TABLE = "the dataset has no metadata table"
_T = TypeVar("_T")


@click.group(short_help="Create, show and check a dataset's metadata table.")
def metadata() -> None:
    """Create, show and check the metadata table, in which a dataset stores its own listing.

    URL is a directory, s3://bucket/path, or any URL that fsspec opens, such as abfs://container/path;
    -o sets options of the store. The table has Hudi's format, and is in .hoodie/metadata.

    Exit codes: 0 success, 1 the check failed, 2 usage, 3 something is missing or damaged.
    """


def _on_dataset(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select a dataset, and call the command with the opened dataset."""

    @wraps(function)
    def command(
        *,
        url: str,
        options: Mapping[str, str],
        directory: str | None,
        max_block_bytes: int,
        metrics: bool,
        **values: Any,
    ) -> None:
        with _opened(url, options, directory, max_block_bytes) as dataset:
            try:
                function(dataset, **values)
            finally:
                if metrics:
                    click.echo(json.dumps(dataset.metrics.snapshot()), err=True)

    for option in (TARGET_OPTION, METRICS, _DIRECTORY, _MAX_BLOCK_BYTES, _URL):
        command = option(command)
    return command


@metadata.command("set", short_help="Set the directory of the table.")
@_URL
@click.option(
    "--metadata-dir",
    "directory",
    metavar="DIR",
    help="Directory of the table. Without it, the saved directory is removed.",
)
def set_directory(url: str, directory: str | None) -> None:
    """Set where the commands look for the table of URL: in DIR, in the same storage.

    Use it for datasets that you can't, or don't want to, write to. The setting is saved in the file
    .fscontract/metadata.json of the working directory.
    """
    _remember(url, directory)
    say(f"Metadata Table of {url} is in {directory or 'the dataset'}")


@metadata.command(short_help="Create the table.")
@_on_dataset
@click.option(
    "--name", default="dataset", show_default=True, help="Name of the dataset, if it has none."
)
@click.option(
    "--columns",
    metavar="NAMES",
    default="",
    help="Comma-separated columns whose ranges are stored to prune files; all means the first 32.",
)
@click.option(
    "--partition-stats",
    is_flag=True,
    help="Also store the ranges of each partition of the dataset.",
)
@click.option(
    "--record-index",
    is_flag=True,
    help="Also store the file group of each record key, for `lookup`.",
)
@click.option(
    "--record-index-groups",
    type=click.IntRange(1, MAX_GROUPS),
    metavar="N",
    help="Number of file groups of a new record index. Default: by Hudi's rule, at least 10.",
)
@_SPARK
@click.option(
    "--partition-fields", metavar="NAMES", help="Comma-separated partition fields, in order."
)
@click.option("--record-key", metavar="NAMES", help="Comma-separated columns that identify a row.")
@click.option(
    "--schema",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the Avro schema of the rows.",
)
def create(
    dataset: Dataset,
    name: str,
    columns: str,
    partition_stats: bool,
    record_index: bool,
    record_index_groups: int | None,
    spark: str | None,
    partition_fields: str | None,
    record_key: str | None,
    schema: Path | None,
) -> None:
    """Create the table from a listing of URL, and from the footers of Parquet files.

    The ranges of NAMES, separated by commas, are read from all existing files, and from those that
    are added later. --record-index reads the keys in `_hoodie_record_key`. If the table exists,
    --columns, --partition-stats and --record-index add these partitions, or build them anew, while
    other writers continue.

    Other readers need partition fields, record key and schema. They are detected from directories
    such as year=2024 and from the Parquet files; the options override them.
    """
    declared = _declared(partition_fields, record_key, schema)
    start = time.monotonic()
    names = None if columns == "all" else [c for c in columns.split(",") if c]
    index = [RECORD_INDEX] if record_index else []
    if (columns or partition_stats or record_index) and dataset.has_table():
        selected = {COLUMN_STATS: bool(columns), PARTITION_STATS: partition_stats}
        chosen = [name for name, is_chosen in selected.items() if is_chosen]
        _build(dataset, chosen + index, names, record_index_groups)
        return
    with _warnings_as_lines(), _lister(dataset, spark) as lister:
        dataset.writer().initialize(
            name,
            lister=lister,
            columns=names,
            reader=_footer_reader(),
            infer=partial(infer_properties, declared=declared),
            partition_stats=partition_stats,
        )
    say(f"Created Metadata Table in {dataset.table} ({_duration(start)})")
    _build(dataset, index, [], record_index_groups)


def _build(
    dataset: Dataset,
    partitions: Sequence[str],
    columns: Sequence[str] | None,
    groups: int | None = None,
) -> None:
    """Build partitions of an existing table; an index of records with a number of file groups."""
    for partition in partitions:
        start, count = time.monotonic(), groups if partition == RECORD_INDEX else None
        with _warnings_as_lines():
            dataset.writer().create_partition(partition, columns, _footer_reader(), count)
        say(f"Built {partition} of Metadata Table in {dataset.table} ({_duration(start)})")


@metadata.command(short_help="Delete the table.")
@_on_dataset
@_PARTITION
def delete(dataset: Dataset, partition: str | None) -> None:
    """Delete the table with all its files; later commands list the dataset instead.

    Without column_stats there is no partition_stats, either.
    """
    if partition is not None:
        if not dataset.writer().drop_partition(partition):
            raise MetadataException(dataset.path, f"the table has no partition {partition}")
        say(f"Deleted {partition} of Metadata Table in {dataset.table}")
        return
    if not dataset.writer().drop():
        raise MetadataException(dataset.path, _NO_TABLE)
    say(f"Deleted Metadata Table in {dataset.table}")


@metadata.command(short_help="Rebuild the table from the existing files.")
@_on_dataset
@_PARTITION
@_SPARK
def rebuild(dataset: Dataset, partition: str | None, spark: str | None) -> None:
    """Rebuild the table from a listing of URL, with the same columns.

    Use it if the table is damaged, or differs from the files because some were added or removed
    without an action on the timeline. With --partition nothing is listed, and other writers
    continue.
    """
    if partition is not None:
        _check_partition(dataset, partition)
        _build(dataset, [partition], [])
        return
    start = time.monotonic()
    with _warnings_as_lines(), _lister(dataset, spark) as lister:
        change = dataset.writer().rebuild(lister, _footer_reader())
    partitions = [files for files in change.added.values() if files]
    click.echo(
        f"Rebuilt Metadata Table in {dataset.table}: {len(partitions)} partitions, "
        f"{sum(map(len, partitions))} files ({_duration(start)})"
    )


@metadata.command(short_help="Apply actions that bypassed the table.")
@_on_dataset
def init(dataset: Dataset) -> None:
    """Update the table to all completed actions on the dataset's timeline.

    `validate` finds files that were added or removed without an action, and `rebuild` repairs the
    table.
    """
    _check_table(dataset)
    start = time.monotonic()
    with _warnings_as_lines():
        applied = dataset.writer().sync()
    say(f"Updated Metadata Table in {dataset.table}: {len(applied)} instants ({_duration(start)})")


@metadata.command(short_help="Rewrite the table without its logs.")
@_on_dataset
def compact(dataset: Dataset) -> None:
    """Write a new base file with the content of the logs, and remove obsolete files."""
    _check_table(dataset)
    writer = dataset.writer()
    start = time.monotonic()
    with _warnings_as_lines():
        instant = writer.compact()
    if instant is None:
        raise MetadataException(dataset.path, "the table has an action that is not completed")
    removed = writer.clean_table(2)
    say(
        f"Compacted Metadata Table in {dataset.table} at {instant.time}, "
        f"{len(removed)} files removed ({_duration(start)})"
    )


@metadata.command(short_help="Show the size and state of the table.")
@_on_dataset
@_JSON
def stats(dataset: Dataset, as_json: bool) -> None:
    """Show the table's state: partitions, files and whether it is up to date."""
    metadata_directory = location_of(dataset.path, dataset.directory).metadata
    with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
        slices = [
            file_slice
            for partition in sorted(table.partitions)
            for file_slice in latest_slices(
                list_folder(dataset.fs, f"{metadata_directory}/{partition}"), table.timeline
            )
        ]
        bases = [file_slice.base.length for file_slice in slices if file_slice.base is not None]
        logs = [log.status.length for file_slice in slices for log in file_slice.logs]
        values: dict[str, Any] = {  # names from Hudi's command
            "Base path": dataset.url,
            "partitionCount": len(table.list_partitions()),
            "lastCompactionTimestamp": last_compaction(table.timeline) or "none",
            "isInSync": not unsynced(table.data_timeline, table.timeline),
            "logFileCount": len(logs),
            "totalBaseFileSizeInBytes": sum(bases),
            "totalLogFileSizeInBytes": sum(logs),
            "baseFileCount": len(bases),
        }
    texts = ((n, str(v).lower() if isinstance(v, bool) else str(v)) for n, v in values.items())
    _print(values, [f"{name}: {text}" for name, text in texts], as_json)


@metadata.command("list-partitions", short_help="List the partitions.")
@_on_dataset
@_VALIDATE
@_SPARK
@_JSON
def list_partitions(dataset: Dataset, validate: bool, spark: str | None, as_json: bool) -> None:
    """List the partitions, from the table if there is one; print the duration to stderr."""
    names = _timed(dataset, "partitions", lambda files: files.list_partitions(), validate, spark)
    _print(names, [name or "." for name in names], as_json)


@metadata.command("list-files", short_help="List the files of a partition or of all.")
@_on_dataset
@click.option(
    "--partition", help="Path of the partition below URL, '.' for URL itself. Default: all."
)
@_VALIDATE
@_SPARK
@_JSON
def list_files(
    dataset: Dataset, partition: str | None, validate: bool, spark: str | None, as_json: bool
) -> None:
    """List files and their sizes, of a partition or all, from the table if there is one.

    Without --partition, names are paths below URL.
    """

    def listed(files: FileListing) -> list[FileStatus]:
        if partition is None:
            return list(chain.from_iterable(files.list_all().values()))
        return files.list_files("" if partition == NO_PARTITION else partition.strip("/"))

    start = len(dataset.path.rstrip("/")) + 1
    named = [
        (file.path[start:] if partition is None else file.path.rpartition("/")[2], file.length)
        for file in _timed(dataset, "files", listed, validate, spark)
    ]
    lines = [f"{size:>12} {name}" for name, size in named]
    _print([{"name": name, "size": size} for name, size in named], lines, as_json)


@metadata.command(short_help="Find records by their keys.")
@_on_dataset
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@_JSON
def lookup(dataset: Dataset, keys: tuple[str, ...], as_json: bool) -> None:
    """Print partition, file group and instant of the record with each KEY, from Hudi's index.

    A KEY is the text in _hoodie_record_key. Exit code 1 if a record is not found.
    """
    with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
        found = table.lookup(keys)
    values = {key: found[key]._asdict() for key in keys if key in found}
    lines = [
        f"{key}: {item.partition or NO_PARTITION} {item.file_group} {item.instant or 'unknown'}"
        for key, item in ((key, found[key]) for key in values)
    ]
    _print(values, lines, as_json)
    if missing := [key for key in dict.fromkeys(keys) if key not in found]:
        click.echo(f"not found: {printable(', '.join(missing))}", err=True)
        click.get_current_context().exit(1)


@metadata.command(short_help="Compare the table with a listing.")
@_on_dataset
def validate(dataset: Dataset) -> None:
    """List URL, and report differences from the table, and how to repair it (exit code 1)."""
    _check_table(dataset)
    mends = printable(f"{dataset.command('rebuild')} rebuilds it")
    try:
        with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
            known = sizes_of(dict(table.list_all()))
    except MetadataException as error:
        raise MetadataException(dataset.path, f"{error}; {mends}") from error
    with dataset.metrics.timed(VALIDATE_FILES):
        actual = sizes_of(FileListing(dataset.fs, dataset.path, enabled=False).list_all())
    if wrong := difference(known, actual):
        dataset.metrics.count(VALIDATE_ERRORS)
        click.echo(f"the table differs from the files: {printable(wrong)}; {mends}")
        click.get_current_context().exit(1)
    count = sum(map(len, actual.values()))
    click.echo(f"the table is correct: {len(actual)} partitions, {count} files")


def _check_partition(dataset: Dataset, partition: str) -> None:
    with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
        if partition not in table.partitions:
            raise MetadataException(dataset.path, f"the table has no partition {partition}")


_FILE = Path(".fscontract") / "metadata.json"


def _remember(url: str, directory: str | None) -> None:
    """Save the directory of a dataset's table, or remove it for None; raise UsageError."""
    known = _known()
    if directory is None:
        known.pop(mask_url(url), None)
    else:
        known[mask_url(url)] = directory
    try:
        _FILE.parent.mkdir(exist_ok=True)
        _FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"can't write {_FILE}: {error.strerror or error}") from error


def _remembered(url: str) -> str | None:
    """Return the saved directory of a dataset's table, or None; raise UsageError."""
    return _known().get(mask_url(url))


def _known() -> dict[str, str]:
    if not _FILE.exists():
        return {}
    try:
        directories = load_json(_FILE)
    except UntrustedError as error:
        raise UsageError(str(error)) from None
    if not isinstance(directories, dict) or not all(
        isinstance(directory, str) for directory in directories.values()
    ):
        raise UsageError(f"invalid {_FILE}: not written by `fscontract metadata set`")
    return directories


@dataclass(frozen=True)
class Dataset:
    """A dataset named by the user, and the directory of its table if outside the dataset."""

    fs: FileSystem
    path: str
    url: str
    directory: str | None
    max_block_bytes: int
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def table(self) -> str:
        """Location of the table as the user would write it."""
        return self.directory or f"{self.url.rstrip('/')}/.hoodie/metadata"

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments for readers and writers of the table."""
        return {
            "directory": self.directory,
            "max_block_bytes": self.max_block_bytes,
            "metrics": self.metrics,
        }

    def command(self, name: str) -> str:
        """Return the command line that runs a command for this dataset."""
        words = ["fscontract", "metadata", name, mask_url(self.url)]
        words += ["--metadata-dir", self.directory] if self.directory is not None else []
        return shlex.join(words)

    def has_table(self) -> bool:
        """Return True if the table exists."""
        return location_of(self.path, self.directory).exists(self.fs)

    def writer(self) -> MetadataWriter:
        """Return a writer that locks the table."""
        at = f"{self.directory}.locks" if self.directory else f"{self.path}/{LOCKS}"
        lock = FileLock(self.fs, at)
        return MetadataWriter(self.fs, self.path, lock=lock, **self.settings)


@contextmanager
def _opened(
    url: str, options: Mapping[str, str], directory: str | None, max_block_bytes: int
) -> Iterator[Dataset]:
    """Open the dataset at a URL; print errors on one line."""
    with one_line(options):
        (dataset,) = inputs([url], options)
        table_directory = directory or _remembered(url)
        if table_directory is not None:
            (table,) = inputs([table_directory], options)
            if table.location != dataset.location:
                raise UsageError(
                    f"{mask_url(table_directory)}: must be in the same storage as the dataset"
                )
            table_directory = bare_path(table.path)
        fs = dataset.location.make()
        try:
            path = bare_path(dataset.path).rstrip("/")
            if not path:
                raise UsageError(f"{mask_url(url)}: must be a directory below the root")
            if not fs.get_file_status(path).is_directory:
                raise UsageError(f"{url}: not a directory")
            yield Dataset(fs, path, url, table_directory, max_block_bytes)
        finally:
            getattr(fs, "close", lambda: None)()


def _declared(
    partition_fields: str | None, record_key: str | None, schema: Path | None
) -> DeclaredProperties:
    """Return the properties that the options of `create` declare; raise UsageError."""
    fields, key = (
        None if names is None else [name for name in names.split(",") if name]
        for names in (partition_fields, record_key)
    )
    if schema is None:
        return DeclaredProperties(fields, key)
    try:
        text = schema.read_text(encoding="utf-8")
        if not isinstance(parse_json(text), dict):
            raise ValueError("expected a record")
    except (OSError, ValueError) as error:
        raise UsageError(f"{schema} is not a valid Avro schema: {error}") from error
    return DeclaredProperties(fields, key, json.dumps(parse_json(text), separators=(",", ":")))


@contextmanager
def _lister(dataset: Dataset, spark: str | None) -> Iterator[Callable[[FileSystem, str], Sizes]]:
    """Return the function that lists the dataset, in this process or in Spark tasks."""
    progress = _progress if _shows_progress() else None
    if spark is None:
        yield lambda fs, path: listing(fs, path, progress)
        return
    with _tasks(dataset, spark) as tasks:
        yield lambda fs, path: listing_by(tasks, fs, path, progress)


def _tasks(dataset: Dataset, spark: str) -> AbstractContextManager[Tasks]:
    """Return a context with tasks of a master that can list the dataset."""
    from fscontract.implementations.spark.locations import location_of as spark_location
    from fscontract.pipeline.cli.read import spark_tasks

    return spark_tasks(spark, [spark_location(dataset.fs)])


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print each MetadataWarning to stderr on one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for warning in caught:
                if issubclass(warning.category, MetadataWarning):
                    say(f"fscontract: warning: {warning.message}", err=True)


def _check_table(dataset: Dataset) -> None:
    """Raise MetadataException if the dataset has no table."""
    if not dataset.has_table():
        raise MetadataException(dataset.path, _NO_TABLE)


def _duration(start: float) -> str:
    return f"duration={time.monotonic() - start:.2f}sec"


def _shows_progress() -> bool:
    return sys.stderr.isatty()


def _progress(directories: int, files: int) -> None:
    click.echo(f"{directories} directories listed, {files} files", err=True)


def _footers(read: int, files: int) -> None:
    click.echo(f"{read} of {files} footers read", err=True)


def _footer_reader() -> StatisticsReader:
    return partial(read_statistics, progress=_footers if _shows_progress() else None)


def _timed(
    dataset: Dataset,
    what: str,
    question: Callable[[FileListing], list[_T]],
    validate: bool,
    spark: str | None,
) -> list[_T]:
    """Query a listing; print its source, the duration and warnings to stderr.

    Without a table, tasks of a Spark master list the dataset. If `validate`, the listing is
    returned, and differences from the table are warnings.
    """
    start = time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(_warnings_as_lines())

        def list_by_tasks(fs: FileSystem, path: str) -> dict[str, list[FileStatus]]:
            return files_by(stack.enter_context(_tasks(dataset, str(spark))), fs, path)

        lister = None if spark is None else list_by_tasks
        files = stack.enter_context(
            FileListing(
                dataset.fs, dataset.path, validate=validate, lister=lister, **dataset.settings
            )
        )
        answer = question(files)
        source = "the metadata table" if files.uses_table and not validate else "listing"
    click.echo(f"{len(answer)} {what} from {source} ({_duration(start)})", err=True)
    return answer


def _print(as_data: Any, lines: list[str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(as_data))
    else:
        for line in lines:
            click.echo(printable(line.replace("\n", "\\n")))
