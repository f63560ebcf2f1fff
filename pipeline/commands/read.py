"""`fscontract read`: print the records of files that are read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fscontract.pipeline.commands import common

if TYPE_CHECKING:
    from fscontract.pipeline.commands.plan import Plan
    from fscontract.pipeline.commands.printing import Printer
    from fscontract.pipeline.commands.records import Found, Reading

_READERS = ("lines", "lines-and-rests", "slices", "records")


@click.command(short_help="Print the records of files, read block by block.")
@common.input_options
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
    callback=common.escaped,
    help=r"What ends a record in place of a line's end; \n, \t, \0 and \xHH are bytes.",
)
@click.option(
    "--length",
    metavar="SIZE",
    callback=common.size(1),
    help="Bytes of a slice, 32M if not given; or of each of the records.",
)
@click.option(
    "--max-length",
    metavar="SIZE",
    callback=common.size(),
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
    "--end", metavar="BYTES", callback=common.escaped, help="What is printed behind each."
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
    from fscontract.contract.suite.commands.common import SET_UP, say_error
    from fscontract.pipeline.commands.inputs import inputs
    from fscontract.pipeline.commands.output import standard_output
    from fscontract.pipeline.commands.plan import Choice, Plan
    from fscontract.pipeline.commands.printing import Counting, Json, Raw
    from fscontract.pipeline.commands.records import Reading

    names = ("block_size", "recursive", "pattern", "ignore", "data_offset")
    choice = {name: values.pop(name) for name in names}
    with common.one_line(options):
        reading = Reading(data_offset=choice["data_offset"], **values)
        reading.check()
        plan = Plan(inputs(urls, options), Choice(**choice, whole=reading.is_whole))
        with standard_output() as output:
            printer: Printer = Raw(output, reading.ending if end is None else end)
            if count or as_json:
                printer = Counting(output, as_json) if count else Json(output)
            with _found(plan, reading, printer, spark) as found:
                counted = _print(found, plan, printer, limit, quiet)
            printer.finish(counted)
            output.flush()  # what is said of it comes behind it
        if not quiet:
            click.echo(_summary(counted), err=True)
    for line in plan.missing:
        say_error(line)
    if plan.missing:
        ctx.exit(SET_UP)


@contextmanager
def _found(
    plan: Plan, reading: Reading, printer: Printer, spark: str | None
) -> Iterator[Iterator[Found]]:
    if spark is None:
        from fscontract.pipeline.commands.records import read_plan

        yield read_plan(plan, reading)
        return
    from fscontract.pipeline.commands.onspark import read_on_spark, spark_tasks

    with spark_tasks(spark, [one.place for one in plan.inputs]) as tasks:
        yield read_on_spark(tasks, plan, reading, printer.records, printer.offsets)


def _print(
    found: Iterator[Found], plan: Plan, printer: Printer, limit: int | None, quiet: bool
) -> dict[str, Any]:
    """Print the records, up to a limit; how many of what there were."""
    from fscontract.pipeline.commands.progress import Progress

    with Progress(quiet, printer.records) as progress:
        while limit is None or printer.count < limit:
            one = next(found, None)
            if one is None:
                break
            printer.take(one, one.records if limit is None else limit - printer.count)
            progress.bytes += one.bytes
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
    from fscontract.contract.suite.report.text import plural

    where = f"{plural(counted['blocks'], 'block')} of {plural(counted['files'], 'file')}"
    what = f"{plural(counted['records'], 'record')}, {counted['bytes']:,} bytes"
    return f"{what} in {where}, {counted['seconds']:.1f} s"
