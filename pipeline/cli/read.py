"""`fscontract read`: print the records of files, locally or on Spark."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

import click

from fscontract.contract.command_line import say_error
from fscontract.contract.runner.exit_codes import SET_UP
from fscontract.contract.targets import UsageError
from fscontract.contract.text import plural
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.implementations.spark.failures import Failure, error_of, failure_of
from fscontract.implementations.spark.locations import FileLocation, FsspecLocation, S3Location
from fscontract.implementations.spark.package_upload import ship
from fscontract.implementations.spark.session import is_local, session_of
from fscontract.implementations.spark.tasks import Tasks, tasks_of
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.readers import Counters
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
from fscontract.pipeline.listed_filesystem import list_on_executors

_READERS = ("lines", "lines-with-partial", "slices", "records")


@click.command(short_help="Print the records of files, read block by block.")
@cli_options.input_options
@click.option(
    "--reader",
    type=click.Choice(_READERS),
    default="lines",
    show_default=True,
    help="Kind of records.",
)
@click.option(
    "--delimiter",
    metavar="BYTES",
    callback=cli_options.escaped,
    help="Record delimiter instead of line ends; \\n, \\t, \\0 and \\xHH are escapes.",
)
@click.option(
    "--length",
    metavar="SIZE",
    callback=cli_options.size(1),
    help="Bytes of a slice (default 32M), or of each record.",
)
@click.option(
    "--max-length",
    metavar="SIZE",
    callback=cli_options.size(),
    help="Maximum bytes of a delimited record.",
)
@click.option(
    "--too-long",
    type=click.Choice(["error", "truncate", "skip"]),
    default="error",
    show_default=True,
    help="Handling of longer records.",
)
@click.option(
    "--compression",
    type=click.Choice(["infer", "none", "gzip", "bzip2", "xz", "zstd"]),
    default="infer",
    show_default=True,
    help="Compression of the files. Default: by their suffix.",
)
@click.option("--limit", metavar="N", type=click.IntRange(0), help="Maximum number of records.")
@click.option("--count", is_flag=True, help="Print only the number of records.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each record.")
@click.option("--end", metavar="BYTES", callback=cli_options.escaped, help="Record terminator.")
@click.option(
    "--spark", metavar="MASTER", help="List and read with Spark tasks: local[2], yarn, ..."
)
@cli_options.METRICS
@click.option("--quiet", is_flag=True, help="Print no progress and no summary.")
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
    metrics: bool,
    **values: Any,
) -> None:
    """Print the records of the files that URL names, a file or a directory, in order.

    URL is a path, s3://bucket/path, or any URL that fsspec opens, such as ftp://host/path; -o sets
    options of the store.

    \b
    lines                whole lines, each from exactly one block
    lines-with-partial   a block that cuts a line returns its rest as the first record
    slices               pieces of --length bytes of each block
    records              whole records, of --length bytes each, or delimited

    Records are printed as unchanged bytes, followed by their delimiter or a newline; slices and
    records of fixed length have no terminator. --end overrides it. --json prints file, block,
    offset and record: text, or base64 for bytes that are not UTF-8.

    Exit codes: 0 success, 2 usage, 3 something is missing or can't be read (earlier records are
    printed), 130 interrupted, 141 the output was closed.
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
            output.flush()  # flush before the summary on stderr
        if not quiet:
            click.echo(_summary(counted), err=True)
        if metrics:
            click.echo(plan.metrics(with_reader=True), err=True)
    for line in plan.missing:
        say_error(line)
    if plan.missing:
        ctx.exit(SET_UP)


@contextmanager
def _block_records(
    plan: BlockPlan, reading: ReadSettings, printer: Printer, spark: str | None
) -> Iterator[Iterator[BlockRecords]]:
    if spark is None:
        with closing(read_plan(plan, reading)) as batches:
            yield batches
        return

    with spark_tasks(spark, [file_input.location for file_input in plan.inputs]) as tasks:
        plan.lister = partial(list_on_executors, tasks)
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


#: Number of bytes, and maximum number of blocks, that a task reads; at least one block.
_TASK_BYTES = 16 << 20
_TASK_BLOCKS = 1000
#: Jobs that run while the records of another one are printed.
_AHEAD = 1
#: Settings of a driver whose tasks send whole blocks.
_SETTINGS = {"spark.driver.memory": "2g", "spark.driver.maxResultSize": "0"}

#: Parts of BlockRecords: index of the block in the task, count, bytes, records and their offsets.
_Row: TypeAlias = tuple[int, int, int, list[bytes] | None, list[int] | None]

#: Rows of a task, its failure or None, and the counters of its reader.
_Done: TypeAlias = tuple[list[_Row], Failure | None, Counters]


@dataclass(frozen=True)
class _Task:
    """Consecutive blocks, and the wanted parts of their records."""

    location: FileLocation
    reading: ReadSettings
    blocks: tuple[FileBlockMetadata, ...]
    records: bool
    offsets: bool


@contextmanager
def spark_tasks(master: str, places: Iterable[FileLocation]) -> Iterator[Tasks]:
    """Start a session that can read the locations; raise TargetError if that fails.

    Raise UsageError for an invalid master, or for files and credentials that stay in this process.
    A cluster gets this package.
    """
    locations = list(places)
    if any(isinstance(one, FsspecLocation) and one.in_process for one in locations):
        raise UsageError("--spark can't read memory: URLs: each executor has its own memory")
    with ExitStack() as stack:
        # Start in a thread, so that no interrupt breaks its communication with the JVM, and PySpark
        # does not replace the interrupt handler.
        with ThreadPoolExecutor(1) as starter:
            context = session_of(master, _SETTINGS, _keys(locations))
            session = starter.submit(stack.enter_context, context).result()
            if not is_local(master):
                starter.submit(ship, session).result()
            tasks = tasks_of(session)
        stack.callback(tasks.close)
        yield tasks


def read_on_spark(
    tasks: Tasks,
    plan: BlockPlan,
    reading: ReadSettings,
    records: bool = True,
    offsets: bool = False,
) -> Iterator[BlockRecords]:
    """Yield the records of a plan; include records and offsets only if wanted."""
    for part in plan.parts():
        blocks = (item for item in part.items if isinstance(item, FileBlockMetadata))
        todo = (_Task(part.location, reading, run, records, offsets) for run in _runs(blocks))
        jobs: deque[tuple[list[_Task], Future[list[_Done]]]] = deque()
        while True:
            job = list(islice(todo, tasks.parallelism))
            if job:
                jobs.append((job, tasks.submit(_run, job, len(job))))
            if not jobs:
                break
            if not job or len(jobs) > _AHEAD:
                done, future = jobs.popleft()
                for task, (rows, failure, counters) in zip(done, future.result(), strict=True):
                    plan.reader.add(counters)
                    yield from (_row_read(task, row) for row in rows)
                    if failure is not None:
                        raise error_of(failure)


def _keys(places: Iterable[FileLocation]) -> Mapping[str, str]:
    """Return credentials from options, which executors get in their environment."""
    variables: dict[str, str | None] = {}
    for location in places:
        if isinstance(location, S3Location):
            keys = location.config.credentials
            variables["AWS_ACCESS_KEY_ID"] = keys.access_key
            variables["AWS_SECRET_ACCESS_KEY"] = keys.secret_key
            variables["AWS_SESSION_TOKEN"] = keys.session_token
        if isinstance(location, FsspecLocation):
            variables.update(location.variables)
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


def _run(task: _Task) -> _Done:
    """Return the records of a task, its failure if it did not complete, and its counters."""
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
            return rows, failure_of(error), reader.counters
    return rows, None, reader.counters


def _row_read(task: _Task, row: _Row) -> BlockRecords:
    number, count, used, records, offsets = row
    block = task.blocks[number]
    if records is None:
        return BlockRecords(block, count, used)
    return BlockRecords(
        block, count, used, RecordBatch(block.block_id, records, 0, 0, 0, b"", offsets)
    )
