"""Measure how much of a file a target reads to return one byte, and how long a byte takes."""

from __future__ import annotations

from fscontract.contract import clock
from fscontract.contract.generate.listed_calls import program_of
from fscontract.contract.program.program import Program
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.learned_boundaries import first_read
from fscontract.contract.runner.timeout_policy import run_items

#: The number of bytes that this process has read by system calls, on Linux.
_COUNTERS = "/proc/self/io"
#: The length of the read that is timed, in bytes, and how often it is made; the fastest counts.
_TIMED, _TIMES = 65_537, 3


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


def seconds_per_byte(context: RunContext) -> float:
    """Return how long a call takes for each byte that it reads, 0.0 if that isn't measured.

    A stream may deliver one byte at a time, so that a long read takes many reads of its source.
    """
    if context.times.run.is_over:
        return 0.0
    operations = context.operations & (context.settings.relevant or context.operations)
    calls = (("read_fully", (0, _TIMED, 0, _TIMED)), ("py_read", (_TIMED,)))
    made = [program_of(_TIMED, [call]) for call in calls if call[0] in operations]
    taken: list[float] = []

    def time(program: Program) -> None:
        start = clock.monotonic()
        context.executor.run(program)
        taken.append((clock.monotonic() - start) / _TIMED)

    run_items(context, iter(made[:1] * _TIMES), time)
    return min(taken, default=0.0)


def _bytes_read() -> int:
    """Return the number of bytes read; raise OSError where nothing counts them."""
    with open(_COUNTERS, encoding="ascii") as counters:
        return int(next(counters).partition(":")[2])
