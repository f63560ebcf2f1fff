"""`fscontract metadata`: create, show and check the metadata table of a dataset."""

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
from typing import Any, TypeVar

import click

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.contract.command_line import TARGET_OPTION, say
from fscontract.contract.masking import mask_url
from fscontract.contract.models.metadata_table import difference
from fscontract.contract.report.text import printable
from fscontract.contract.targets import UsageError
from fscontract.contract.untrusted import UntrustedError, load_json, parse_json
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.cli.options import inputs, one_line
from fscontract.pipeline.hudi.changes import Sizes, unsynced
from fscontract.pipeline.hudi.file_slices import last_compaction, latest_slices
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.io import MetadataException, MetadataWarning
from fscontract.pipeline.hudi.io import list_files as list_folder
from fscontract.pipeline.hudi.layout import Given, infer_properties
from fscontract.pipeline.hudi.listing import FileListing, listing
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.parquet_stats import read_statistics
from fscontract.pipeline.hudi.records import NO_PARTITION
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import place_of
from fscontract.pipeline.hudi.writer import MetadataWriter

_URL = click.argument("url", metavar="URL")
_DIRECTORY = click.option(
    "--metadata-dir",
    "directory",
    metavar="DIR",
    help="Where the table is, if not in the dataset; without it, what `set` says.",
)
_MAX_BLOCK_BYTES = click.option(
    "--max-block-bytes",
    type=click.IntRange(min=1),
    default=MAX_BLOCK_BYTES,
    show_default=True,
    help="The table is damaged if a block of it has more bytes uncompressed.",
)
_SPARK = click.option("--spark", metavar="MASTER", help="List by tasks of Spark, such as local[4].")
_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.group(short_help="Make, show and check a dataset's metadata table.")
def metadata() -> None:
    """Make, show and check the table in which a dataset keeps its own listing.

    URL is a directory, file:///path or s3://bucket/path, for which -o gives the options of S3. The
    table is Hudi's, in .hoodie/metadata.

    Exit codes: 0 done, 1 what is checked is wrong, 2 usage, 3 something is not there or damaged.
    """


def _common(function: Any) -> Any:
    for option in (TARGET_OPTION, _DIRECTORY, _MAX_BLOCK_BYTES, _URL):
        function = option(function)
    return function


@metadata.command("set", short_help="Say where the table is to be.")
@_URL
@click.option(
    "--metadata-dir", "directory", metavar="DIR", help="The directory; without it, forget it."
)
def set_directory(url: str, directory: str | None) -> None:
    """Say where the commands look for the table of URL: in DIR, a directory of the same storage.

    For datasets that one may not, or does not want to, write into. It is kept in the file
    .fscontract/metadata.json of the working directory.
    """

    remember(url, directory)
    say(f"Metadata Table of {url} is in {directory or 'the dataset'}")


@metadata.command(short_help="Make the table.")
@_common
@click.option("--name", default="dataset", show_default=True, help="The dataset's, if it has none.")
@click.option(
    "--columns",
    metavar="NAMES",
    default="",
    help="Columns to keep the ranges of, by which files are pruned; all for the first 32.",
)
@_SPARK
@click.option("--partition-fields", metavar="NAMES", help="The fields of the partitions, in order.")
@click.option("--record-key", metavar="NAMES", help="The columns that tell rows apart.")
@click.option(
    "--schema",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with the Avro schema of the rows.",
)
def create(
    name: str,
    columns: str,
    spark: str | None,
    partition_fields: str | None,
    record_key: str | None,
    schema: Path | None,
    **where: Any,
) -> None:
    """Make the table of what a listing of URL finds, and of the footers of Parquet files.

    The ranges of NAMES, names with commas between them, are read from all files that are there,
    and from those that come later.

    Partition fields, record key and schema, which other readers need, are found in directories
    such as year=2024 and in the Parquet files; the options give them, and win.
    """

    said = given(partition_fields, record_key, schema)
    with opened(**where) as dataset:
        created(dataset, name, columns, spark, said)


@metadata.command(short_help="Delete the table.")
@_common
def delete(**where: Any) -> None:
    """Delete the table with all its files; the dataset is listed then."""

    with opened(**where) as dataset:
        deleted(dataset)


@metadata.command(short_help="Make the table anew of what there is.")
@_common
@_SPARK
def rebuild(spark: str | None, **where: Any) -> None:
    """Make the table anew of what a listing of URL finds, with the ranges that it has.

    It mends a table that is damaged, or that differs from the files, because some came or went
    without an action on the timeline.
    """

    with opened(**where) as dataset:
        rebuilt(dataset, spark)


@metadata.command(short_help="Apply what happened without the table.")
@_common
def init(**where: Any) -> None:
    """Bring the table up to all that was completed on the dataset's timeline.

    What came or went without an action there is found by `validate`, and mended by `rebuild`.
    """

    with opened(**where) as dataset:
        updated(dataset)


@metadata.command(short_help="Write the table anew, without its logs.")
@_common
def compact(**where: Any) -> None:
    """Write a new base file with all that the logs say, and remove what is not needed then."""

    with opened(**where) as dataset:
        compacted(dataset)


@metadata.command(short_help="Show how big and how new the table is.")
@_common
@_JSON
def stats(as_json: bool, **where: Any) -> None:
    """Show what the table is like: partitions, files and whether it is up to date."""

    with opened(**where) as dataset:
        show_stats(dataset, as_json)


@metadata.command("list-partitions", short_help="List the partitions.")
@_common
@_JSON
def list_partitions(as_json: bool, **where: Any) -> None:
    """List the partitions, by the table if there is one; on stderr, how long that took."""

    with opened(**where) as dataset:
        show_partitions(dataset, as_json)


@metadata.command("list-files", short_help="List the files of a partition, or all.")
@_common
@click.option("--partition", help="Its path below URL, '.' for URL itself; without it, all.")
@_JSON
def list_files(partition: str | None, as_json: bool, **where: Any) -> None:
    """List the files of a partition or of all, and their sizes, by the table if there is one.

    Without --partition names are paths below URL.
    """

    with opened(**where) as dataset:
        show_files(dataset, partition, as_json)


@metadata.command(short_help="Compare the table with a listing.")
@_common
@click.pass_context
def validate(ctx: click.Context, /, **where: Any) -> None:
    """List URL, and say where the table differs, and what mends it: exit code 1 then."""

    with opened(**where) as dataset:
        same = show_differences(dataset)
    if not same:
        ctx.exit(1)


_FILE = Path(".fscontract") / "metadata.json"


def remember(url: str, directory: str | None) -> None:
    """Keep the directory for the table of a dataset; forget it if there is none. UsageError."""
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


def remembered(url: str) -> str | None:
    """The directory for the table of a dataset, None for that in the dataset. UsageError."""
    return _known().get(mask_url(url))


def _known() -> dict[str, str]:
    if not _FILE.exists():
        return {}
    try:
        found = load_json(_FILE)
    except UntrustedError as error:
        raise UsageError(str(error)) from None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise UsageError(f"{_FILE} is not what `fscontract metadata set` writes")
    return found


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
    from fscontract.implementations.spark.locations import place_of as spark_place
    from fscontract.pipeline.cli.read import spark_tasks
    from fscontract.pipeline.hudi.listing import listing_by

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


_T = TypeVar("_T")


def show_stats(dataset: Dataset, as_json: bool) -> None:
    """How big and how new the table is, under the names that Hudi's command has."""
    place = place_of(dataset.path, dataset.directory)
    with MetadataTable(dataset.fs, dataset.path, **dataset.settings) as table:
        slices = [
            each
            for partition in sorted(table.partitions)
            for each in latest_slices(
                list_folder(dataset.fs, f"{place.metadata}/{partition}"), table.timeline
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
