"""Measure how much of a file a target reads to return one byte."""

from __future__ import annotations

from fscontract.contract.program.program import Program
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.learned_boundaries import first_read
from fscontract.contract.runner.timeout_policy import run_items

#: The number of bytes that this process has read by system calls, on Linux.
_COUNTERS = "/proc/self/io"


def reads_whole_files(context: RunContext) -> bool:
    """Return whether the target reads most of a file that is opened, or of which a byte is read.

    That is permitted, but takes long and much memory for very large files. True if nothing counts
    the bytes here.
    """
    program = first_read(context.binding)
    context.executor.file(program.length)  # writing it is not counted
    amounts: list[int] = []

    def look(program: Program) -> None:
        before = _bytes_read()
        context.executor.run(program)
        amounts.append(_bytes_read() - before)

    try:
        context.sandbox.restore()
        run_items(context, iter([program]), look)
    except OSError:
        return True
    return not amounts or amounts[-1] > program.length // 2


def _bytes_read() -> int:
    """Return the number of bytes read; raise OSError where nothing counts them."""
    with open(_COUNTERS, encoding="ascii") as counters:
        return int(next(counters).partition(":")[2])
