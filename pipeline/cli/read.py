"""`fscontract read`: print the records of files, locally or on Spark."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import click

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.command_line import say_error
from fscontract.contract.runner.exit_codes import SET_UP
from fscontract.contract.text import plural
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.implementations.spark.failures import Failure, error_of, failure_of
from fscontract.implementations.spark.locations import FileLocation, S3Location
from fscontract.implementations.spark.session import local_session
from fscontract.implementations.spark.tasks import Tasks, tasks_of
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.cli import options as cli_options
from fscontract.pipeline.cli.output import (
    CountPrinter,
    JsonPrinter,
    Printer,
    RawPrinter,
    ReadProgress,
    standard_output,
)
from fscontract.pipeline.cli.plan import (
    BlockPlan,
    BlockRecords,
    ReadSettings,
    SplitSettings,
    read_block,
    read_plan,
)

_READERS = ("lines", "lines-and-rests", "slices", "records")


@click.command(short_help="Print the records of files, read block by block.")
@cli_options.input_options
@click.option(
    "--reader",
    type=click.Choice(_READERS),
    default="lines",
    show_default=True,
    help="What a record is.",
)
@click.option(
    "--delimiter",
    metavar="BYTES",
    callback=cli_options.escaped,
    help=r"What ends a record in place of a line's end; \n, \t, \0 and \xHH are bytes.",
)
@click.option(
    "--length",
    metavar="SIZE",
    callback=cli_options.size(1),
    help="Bytes of a slice, 32M if not given; or of each of the records.",
)
@click.option(
    "--max-length",
    metavar="SIZE",
    callback=cli_options.size(),
    help="The most bytes of a delimited record.",
)
@click.option(
    "--too-long",
    type=click.Choice(["error", "truncate", "skip"]),
    default="error",
    show_default=True,
    help="What becomes of a longer one.",
)
@click.option(
    "--compression",
    type=click.Choice(["infer", "none", "gzip", "bzip2", "xz", "zstd"]),
    default="infer",
    show_default=True,
    help="How files are compressed; by default their suffix says it.",
)
@click.option("--limit", metavar="N", type=click.IntRange(0), help="No more than so many records.")
@click.option("--count", is_flag=True, help="Print how many records there are, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, a line for each record.")
@click.option(
    "--end", metavar="BYTES", callback=cli_options.escaped, help="What is printed behind each."
)
@click.option("--spark", metavar="MASTER", help="Read in tasks of Spark, such as local[2].")
@click.option("--quiet", is_flag=True, help="No progress, and no summary.")
@click.pass_context
def read(
    ctx: click.Context,
    /,
    *,
    urls: tuple[str, ...],
    options: dict[str, str],
    limit: int | None,
    count: bool,
    as_json: bool,
    end: bytes | None,
    spark: str | None,
    quiet: bool,
    **values: Any,
) -> None:
    """Print the records of the files that URL names, a file or a directory, in order.

    URL is a path, file:///path or s3://bucket/path, for which -o gives the options of S3.

    \b
    lines             whole lines, each from one block, whatever the blocks
    lines-and-rests   a block that cuts a line has the rest of it as its first record
    slices            pieces of --length bytes of each block
    records           whole ones, of --length bytes each, or delimited

    Bytes are printed as they are, each record with its delimiter, or a newline, behind it; slices,
    and records of one length, with nothing. --end changes that. --json gives file, block, offset
    and record: text, or base64 for bytes that are no UTF-8.

    Exit codes: 0 done, 2 usage, 3 something is not there or can't be read; what comes before that
    is printed. 130 interrupted, 141 the output was closed.
    """
    names = ("block_size", "recursive", "pattern", "ignore", "data_offset")
    choice = {name: values.pop(name) for name in names}
    with cli_options.one_line(options):
        reading = ReadSettings(data_offset=choice["data_offset"], **values)
        reading.check()
        plan = BlockPlan(
            cli_options.inputs(urls, options), SplitSettings(**choice, is_whole=reading.is_whole)
        )
        with standard_output() as output:
            printer: Printer = RawPrinter(output, reading.ending if end is None else end)
            if count or as_json:
                printer = CountPrinter(output, as_json) if count else JsonPrinter(output)
            with _block_records(plan, reading, printer, spark) as batches:
                counted = _print(batches, plan, printer, limit, quiet)
            printer.finish(counted)
            output.flush()  # what is said of it comes behind it
        if not quiet:
            click.echo(_summary(counted), err=True)
    for line in plan.missing:
        say_error(line)
    if plan.missing:
        ctx.exit(SET_UP)


@contextmanager
def _block_records(
    plan: BlockPlan, reading: ReadSettings, printer: Printer, spark: str | None
) -> Iterator[Iterator[BlockRecords]]:
    if spark is None:
        yield read_plan(plan, reading)
        return

    with spark_tasks(spark, [file_input.location for file_input in plan.inputs]) as tasks:
        yield read_on_spark(tasks, plan, reading, printer.records, printer.offsets)


def _print(
    batches: Iterator[BlockRecords],
    plan: BlockPlan,
    printer: Printer,
    limit: int | None,
    quiet: bool,
) -> dict[str, Any]:
    """Print the records, up to a limit; return the totals."""
    with ReadProgress(quiet, printer.records) as progress:
        while limit is None or printer.count < limit:
            batch = next(batches, None)
            if batch is None:
                break
            printer.take(batch, batch.records if limit is None else limit - printer.count)
            progress.bytes += batch.bytes
            progress.records = printer.count
            progress.show(plan.bytes)
    return {
        "files": plan.files,
        "blocks": plan.blocks,
        "records": printer.count,
        "bytes": progress.bytes,
        "seconds": round(progress.seconds, 3),
    }


def _summary(counted: dict[str, Any]) -> str:
    blocks = f"{plural(counted['blocks'], 'block')} of {plural(counted['files'], 'file')}"
    records = f"{plural(counted['records'], 'record')}, {counted['bytes']:,} bytes"
    return f"{records} in {blocks}, {counted['seconds']:.1f} s"


#: A task reads blocks of about so many bytes in all, at least one, and at most so many.
_TASK_BYTES = 16 << 20
_TASK_BLOCKS = 1000
#: Jobs that run while the records of another one are printed.
_AHEAD = 1
#: What a driver needs whose tasks send it whole blocks.
_SETTINGS = {"spark.driver.memory": "2g", "spark.driver.maxResultSize": "0"}
_LOCAL = re.compile(r"local(\[[\w*, ]+\])?|local-cluster\[[\d, ]+\]")

#: Of BlockRecords: the index of the block in the task, count, bytes, records and their offsets.
_Row: TypeAlias = tuple[int, int, int, list[bytes] | None, list[int] | None]


@dataclass(frozen=True)
class _Task:
    """Blocks that follow each other, and what is wanted of them."""

    location: FileLocation
    reading: ReadSettings
    blocks: tuple[FileBlockMetadata, ...]
    records: bool
    offsets: bool


@contextmanager
def spark_tasks(master: str, places: Iterable[FileLocation]) -> Iterator[Tasks]:
    """Start a local session that can read the locations; TargetError if that fails.

    IllegalArgumentException for a cluster: sessions there are not ours to make.
    """
    if not _LOCAL.fullmatch(master):
        raise IllegalArgumentException(
            f"--spark is local, local[N] or local-cluster[N,C,M], not {master!r:.80};"
            " on a cluster, use the data source"
        )
    with ExitStack() as stack:
        # In a thread, whose conversations with the Java machine no interrupt breaks off: there
        # PySpark does not replace the handler of interrupts, which would begin one, either.
        with ThreadPoolExecutor(1) as starter:
            session = local_session(master, _SETTINGS, _keys(places))
            tasks = tasks_of(starter.submit(stack.enter_context, session).result())
        stack.callback(tasks.close)
        yield tasks


def read_on_spark(
    tasks: Tasks,
    plan: BlockPlan,
    reading: ReadSettings,
    records: bool = True,
    offsets: bool = False,
) -> Iterator[BlockRecords]:
    """Yield what `read_plan` gives; offsets, and records themselves, only if they are wanted."""
    for part in plan.parts():
        blocks = (item for item in part.items if isinstance(item, FileBlockMetadata))
        todo = (_Task(part.location, reading, run, records, offsets) for run in _runs(blocks))
        jobs: deque[tuple[list[_Task], Future[list[tuple[list[_Row], Failure | None]]]]] = deque()
        while True:
            job = list(islice(todo, tasks.parallelism))
            if job:
                jobs.append((job, tasks.submit(_run, job, len(job))))
            if not jobs:
                break
            if not job or len(jobs) > _AHEAD:
                done, future = jobs.popleft()
                for task, (rows, failure) in zip(done, future.result(), strict=True):
                    yield from (_row_read(task, row) for row in rows)
                    if failure is not None:
                        raise error_of(failure)


def _keys(places: Iterable[FileLocation]) -> Mapping[str, str]:
    """Return the keys of S3 that options gave: executors find them in their environment."""
    variables: dict[str, str | None] = {}
    for location in places:
        if isinstance(location, S3Location):
            keys = location.config.credentials
            variables["AWS_ACCESS_KEY_ID"] = keys.access_key
            variables["AWS_SECRET_ACCESS_KEY"] = keys.secret_key
            variables["AWS_SESSION_TOKEN"] = keys.session_token
    return {name: value for name, value in variables.items() if value is not None}


def _runs(blocks: Iterable[FileBlockMetadata]) -> Iterator[tuple[FileBlockMetadata, ...]]:
    run: list[FileBlockMetadata] = []
    size = 0
    for block in blocks:
        run.append(block)
        size += block.size
        if size >= _TASK_BYTES or len(run) >= _TASK_BLOCKS:
            yield tuple(run)
            run, size = [], 0
    if run:
        yield tuple(run)


def _run(task: _Task) -> tuple[list[_Row], Failure | None]:
    """Return what a task finds, and how it ended before its end."""
    rows: list[_Row] = []
    with FILESYSTEMS.lease(task.location) as filesystem, task.reading.open(filesystem) as reader:
        try:
            for number, block in enumerate(task.blocks):
                for block_records in read_block(reader, block):
                    batch = block_records.batch
                    records = batch.records if batch is not None and task.records else None
                    offsets = list(batch.offsets) if batch is not None and task.offsets else None
                    rows.append(
                        (number, block_records.records, block_records.bytes, records, offsets)
                    )
        except OSError as error:
            return rows, failure_of(error)
    return rows, None


def _row_read(task: _Task, row: _Row) -> BlockRecords:
    number, count, used, records, offsets = row
    block = task.blocks[number]
    if records is None:
        return BlockRecords(block, count, used)
    return BlockRecords(
        block, count, used, RecordBatch(block.block_id, records, 0, 0, 0, b"", offsets)
    )
