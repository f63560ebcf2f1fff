"""`fscontract metadata`: make, show and check a dataset's table of its own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fscontract.contract.suite.commands.common import TARGET_OPTION, say
from fscontract.pipeline.metadata.hfile.blocks import MAX_BLOCK_BYTES

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
    from fscontract.pipeline.metadata.commands.session import remember

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
    from fscontract.pipeline.metadata.commands.work import created, given, opened

    said = given(partition_fields, record_key, schema)
    with opened(**where) as dataset:
        created(dataset, name, columns, spark, said)


@metadata.command(short_help="Delete the table.")
@_common
def delete(**where: Any) -> None:
    """Delete the table with all its files; the dataset is listed then."""
    from fscontract.pipeline.metadata.commands.work import deleted, opened

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
    from fscontract.pipeline.metadata.commands.work import opened, rebuilt

    with opened(**where) as dataset:
        rebuilt(dataset, spark)


@metadata.command(short_help="Apply what happened without the table.")
@_common
def init(**where: Any) -> None:
    """Bring the table up to all that was completed on the dataset's timeline.

    What came or went without an action there is found by `validate`, and mended by `rebuild`.
    """
    from fscontract.pipeline.metadata.commands.work import opened, updated

    with opened(**where) as dataset:
        updated(dataset)


@metadata.command(short_help="Write the table anew, without its logs.")
@_common
def compact(**where: Any) -> None:
    """Write a new base file with all that the logs say, and remove what is not needed then."""
    from fscontract.pipeline.metadata.commands.work import compacted, opened

    with opened(**where) as dataset:
        compacted(dataset)


@metadata.command(short_help="Show how big and how new the table is.")
@_common
@_JSON
def stats(as_json: bool, **where: Any) -> None:
    """Show what the table is like: partitions, files and whether it is up to date."""
    from fscontract.pipeline.metadata.commands.shows import show_stats
    from fscontract.pipeline.metadata.commands.work import opened

    with opened(**where) as dataset:
        show_stats(dataset, as_json)


@metadata.command("list-partitions", short_help="List the partitions.")
@_common
@_JSON
def list_partitions(as_json: bool, **where: Any) -> None:
    """List the partitions, by the table if there is one; on stderr, how long that took."""
    from fscontract.pipeline.metadata.commands.shows import show_partitions
    from fscontract.pipeline.metadata.commands.work import opened

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
    from fscontract.pipeline.metadata.commands.shows import show_files
    from fscontract.pipeline.metadata.commands.work import opened

    with opened(**where) as dataset:
        show_files(dataset, partition, as_json)


@metadata.command(short_help="Compare the table with a listing.")
@_common
@click.pass_context
def validate(ctx: click.Context, /, **where: Any) -> None:
    """List URL, and say where the table differs, and what mends it: exit code 1 then."""
    from fscontract.pipeline.metadata.commands.shows import show_differences
    from fscontract.pipeline.metadata.commands.work import opened

    with opened(**where) as dataset:
        same = show_differences(dataset)
    if not same:
        ctx.exit(1)
