"""`fscontract split`: list the blocks of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from fscontract.pipeline.cli import options as cli_options

if TYPE_CHECKING:
    from fscontract.pipeline.blocks import FileBlockMetadata
    from fscontract.pipeline.cli.output import StandardOutput
    from fscontract.pipeline.cli.plan import BlockPlan

_COLUMNS = ("block", "offset", "end", "size", "previous", "last", "file")
#: Rows formatted together, so that a plan of any length takes the same memory.
_ROWS = 1000
_LINE = "{:>12} {:>15} {:>15} {:>12} {:>12} {:4} {}"


@click.command(short_help="List the blocks that files are split into.")
@cli_options.input_options
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each block.")
@click.option("--spark", metavar="MASTER", help="List with Spark tasks: local[2], yarn, ...")
@cli_options.METRICS
@click.pass_context
def split(
    ctx: click.Context,
    /,
    *,
    urls: tuple[str, ...],
    options: dict[str, str],
    as_json: bool,
    spark: str | None,
    metrics: bool,
    **choice: Any,
) -> None:
    """List the blocks of the files that URL names, a file or a directory.

    URL is a path, s3://bucket/path, or any URL that fsspec opens, such as ftp://host/path; -o sets
    options of the store. No file is opened.

    Offsets are in bytes; a block ends before "end". Empty files have no blocks.

    Exit codes: 0 success, 2 usage, 3 something is missing or can't be listed.
    """
    from fscontract.contract.command_line import say_error
    from fscontract.contract.runner.exit_codes import SET_UP
    from fscontract.pipeline.cli.options import inputs
    from fscontract.pipeline.cli.output import standard_output
    from fscontract.pipeline.cli.plan import BlockPlan, SplitSettings

    with cli_options.one_line(options), standard_output() as output:
        plan = BlockPlan(inputs(urls, options), SplitSettings(**choice))
        with _listed_by(spark, plan):
            _show(_blocks(plan), plan, output, as_json)
    if metrics:
        click.echo(plan.metrics(), err=True)
    for line in plan.missing:
        say_error(line)
    if plan.missing:
        ctx.exit(SET_UP)


@contextmanager
def _listed_by(spark: str | None, plan: BlockPlan) -> Iterator[None]:
    """Let tasks list the inputs of a plan if there is a master."""
    if spark is None:
        yield
        return
    from fscontract.pipeline.cli.read import spark_tasks
    from fscontract.pipeline.listed_filesystem import list_on_executors

    with spark_tasks(spark, [file_input.location for file_input in plan.inputs]) as tasks:
        plan.lister = partial(list_on_executors, tasks)
        yield


def _blocks(plan: BlockPlan) -> Iterator[FileBlockMetadata]:
    from fscontract.pipeline.blocks import FileBlockMetadata

    for part in plan.parts():
        yield from (item for item in part.items if isinstance(item, FileBlockMetadata))


def _show(
    blocks: Iterator[FileBlockMetadata], plan: BlockPlan, output: StandardOutput, as_json: bool
) -> None:
    from fscontract.contract.text import plural

    if as_json:
        for block in blocks:
            output.write(block.to_json().encode(), b"\n")
        return
    if output.is_plain:
        for number, block in enumerate(blocks):
            if number == 0:  # missing inputs are found before the first block
                output.line(_LINE.format(*_COLUMNS))
            output.line(_LINE.format(*_cells(block, plan)))
    else:
        _print_tables(blocks, plan)
    if plan.files or not plan.missing:
        summary = f"{plural(plan.blocks, 'block')} of {plural(plan.files, 'file')}"
        output.line(f"{summary}, {plan.bytes:,} bytes")


def _cells(block: FileBlockMetadata, plan: BlockPlan) -> tuple[str, ...]:
    numbers = (block.block_id, block.offset, block.end, block.size)
    previous = str(block.previous_block_id) if block.previous_block_id >= 0 else "-"
    last = "last" if block.is_last_block else ""
    return (*map(str, numbers), previous, last, plan.as_typed(block.file_path))


def _print_tables(blocks: Iterator[FileBlockMetadata], plan: BlockPlan) -> None:
    """Print consecutive tables that look like one."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fscontract.contract.text import printable

    console = Console(highlight=False)
    headed = False
    while rows := list(islice(blocks, _ROWS)):
        table = Table(box=SIMPLE_HEAD if not headed else None, show_header=not headed)
        for name in _COLUMNS[:-2]:
            table.add_column(name, justify="right", min_width=12, no_wrap=True)
        table.add_column(_COLUMNS[-2], min_width=4)
        table.add_column(_COLUMNS[-1], overflow="fold")
        for block in rows:
            table.add_row(*(Text(printable(cell)) for cell in _cells(block, plan)))
        console.print(table)
        headed = True
