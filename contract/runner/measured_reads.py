"""Measure how a target reads: its blocks and buffers, the bytes read for one byte, and the time.

Nothing here is judged. What a target states or shows only decides around which offsets programs go,
and how long their files are.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from math import inf
from typing import Any

from fscontract.contract import clock
from fscontract.contract.api.iostatistics import meter
from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding, Opened, PlanInjector
from fscontract.contract.generate.boundaries import reachable
from fscontract.contract.generate.call_sequences import LENGTH
from fscontract.contract.generate.listed_calls import Call, program_of
from fscontract.contract.generate.sizes import LARGE, LINES, MOST_READ, Pace
from fscontract.contract.program.content import content
from fscontract.contract.program.faults import FaultPlan
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Boundary
from fscontract.contract.runner.timeout_policy import run_items
from fscontract.contract.runner.timeouts import beat

#: The smallest size that counts as a boundary, in bytes.
_SMALLEST = 16
#: The most boundaries of one target.
_MOST = 6
#: The source of a size that the target has only under a read policy, if at all.
OF_POLICY = "buffer of a read policy"
#: The start of the source of a distance up to which a vectored read reads ranges together.
OF_VECTORED = "vectored reads: "
#: Methods of Hadoop's streams, and of this package's, that state such a distance or size.
_VECTORED = (
    "minSeekForVectorReads",
    "maxReadSizeForVectorReads",
    "min_seek_for_vectored_reads",
    "max_read_size_for_vectored_reads",
)
#: Attributes that state a size, those of properties and slots too.
_STATED = (
    "block_size",
    "blocksize",
    "buffer_size",
    "bufsize",
    "chunk_size",
    "chunksize",
    "page_size",
    "part_size",
    "prefetch_size",
    "readahead",
    "read_ahead",
)
_SIZE = re.compile(
    r"_?(default_)?(block|buffer|buf|chunk|page|part|prefetch|read_?ahead)_?(size|length|bytes)?"
)
#: Attributes that hold the stream or the cache behind a stream.
_BEHIND = (
    *("stream", "file", "raw", "buffer", "cache", "fileobj", "f", "fp", "inner"),
    *("_stream", "_file", "_raw", "_buffer", "_cache", "_fileobj", "_fp", "_inner"),
)
_DEEP = 3
#: Reads that show requests and counters.
_READS = (Step("read_byte"), Step("py_read", (1,)))


def learned(context: RunContext) -> tuple[Boundary, ...]:
    """Return the boundaries of the target of a run, which are learned at the first call.

    The calls that show them are those of a program, so that one that hangs or crashes is reported.
    """
    if context.learned is None and not context.times.run.is_over:

        def look(program: Program) -> None:
            context.learned = learn(context.executor, context.buffer, program)

        context.sandbox.restore()
        run_items(context, iter([_first_read(context.binding)]), look)
    return context.learned or ()


def learn(executor: Executor, buffer: int, program: Program | None = None) -> tuple[Boundary, ...]:
    """Return the boundaries of a target that files reach: what it shows, then what is usual.

    `buffer` is that of the binding or the profile; `program` has the read that shows something.
    """
    binding, observed = executor.binding, list[tuple[int, str]]()
    with suppress(Exception):  # programs report files that can't be opened or read
        observed = _observed(executor, program or _first_read(binding))
    found: dict[int, str] = {}
    fixed = binding.fixed_content
    only_length = None if fixed is None else len(fixed)
    for size, source in _found(binding, observed, buffer):
        if size >= _SMALLEST and reachable(size, only_length):
            found.setdefault(size, source)
    return tuple(Boundary(size, source) for size, source in list(found.items())[:_MOST])


def _first_read(binding: Binding) -> Program:
    """Return the program that reads one byte of a large file, of a small one if calls are slow."""
    reads = [step for step in _READS if step.op in binding.operations]
    return Program(LENGTH if binding.remote else LARGE, tuple(reads[:1]))


def _found(
    binding: Binding, observed: list[tuple[int, str]], buffer: int
) -> Iterator[tuple[int, str]]:
    if binding.block is not None:
        yield binding.block, "block size of an opened file"
    yield from observed
    yield buffer, "buffer of the binding or profile"
    yield io.DEFAULT_BUFFER_SIZE, "io.DEFAULT_BUFFER_SIZE"
    if binding.opener is not None:
        sizes = sorted({p.buffer for p in option_table().policies.values() if p.buffer})
        yield from ((size, OF_POLICY) for size in sizes[:1])


def _observed(executor: Executor, program: Program) -> list[tuple[int, str]]:
    """Return what an opened stream states, and what its first read shows."""
    if executor.leaves_out(program):
        return []
    binding = executor.binding
    path, data, _ = executor.file(program.length)
    length = len(data)
    reads = [executor.compile(program.length, step).action for step in program.steps]
    found: list[tuple[int, str]] = []
    executor.index = -1
    beat(program)
    streams = [stream := binding.open(path)]
    executor.note_open(streams)
    try:
        found += stated(stream)
        if reads and not binding.remote:
            executor.index = 0
            before = _bytes_from_store(binding, stream)
            found += _requested(binding, lambda: reads[0](stream), length)
            after = _bytes_from_store(binding, stream)
            if 1 < after - before < length:
                found.append((after - before, "bytes from the store for one byte"))
    finally:
        executor.close(program, streams)
    return found


def stated(stream: Opened) -> list[tuple[int, str]]:
    """Return the sizes in the attributes of a stream, of its cache and of the streams below it."""
    found: list[tuple[int, str]] = []
    looked: set[int] = set()
    level: list[Any] = [stream]
    for _ in range(_DEEP):
        for thing in level:
            looked.add(id(thing))
            for name in _names(thing):
                size = _attribute(thing, name)
                if type(size) is int:
                    found.append((size, f"{name} of {type(thing).__name__}"))
            for name in _VECTORED:
                size = _answer(_attribute(thing, name))
                if size is not None:
                    found.append((size, f"{OF_VECTORED}{name} of {type(thing).__name__}"))
        below = [_attribute(thing, name) for thing in level for name in _BEHIND]
        level = [t for t in below if t is not None and id(t) not in looked and not _is_plain(t)]
    return found


def _names(thing: Any) -> Iterable[str]:
    own = getattr(thing, "__dict__", {})
    names = [*own, *vars(type(thing))]
    return dict.fromkeys([*_STATED, *(n for n in names if _SIZE.fullmatch(str(n).lower()))])


def _attribute(thing: Any, name: str) -> Any:
    try:
        return getattr(thing, name, None)
    except Exception:  # a property of the target may raise anything
        return None


def _answer(method: Any) -> int | None:
    """Return what a method without arguments returns, if that is a number."""
    with suppress(Exception):  # a method of the target may raise anything
        size = method() if callable(method) else None
        return size if type(size) is int else None
    return None


def _is_plain(thing: Any) -> bool:
    return callable(thing) or isinstance(thing, int | float | str | bytes | bytearray | memoryview)


def _requested(binding: Binding, read: Any, length: int) -> list[tuple[int, str]]:
    """Return the size of the request for the first byte, if an injector sees requests."""
    injector = binding.injector
    if not isinstance(injector, PlanInjector):
        read()
        return []
    watched = injector.watch()
    with injector.attached(FaultPlan()):
        read()
    sizes = Counter(r.length for firing in watched for r in firing.seen if r.length)
    return [(size, "size of a request") for size, _ in sizes.most_common(2) if 1 < size < length]


def _bytes_from_store(binding: Binding, stream: Opened) -> int:
    """Return the bytes that the target counts as received; 0 if it does not count them."""
    if binding.opener is None:
        return 0
    with suppress(Exception):  # counters are not required
        return meter("bytes", binding.opener.counters(stream)) or 0
    return 0


#: The number of bytes that this process has read by system calls, on Linux.
_COUNTERS = "/proc/self/io"
#: The length of the read that is timed, in bytes, and how often it is made; the fastest counts.
_TIMED, _TIMES = 65_537, 3
#: The bytes of lines that a slow stream reads first, and how much longer that takes byte by byte.
_FEW, _LONGER = 8, 3
#: The longest line that is timed, in bytes.
_LONGEST_LINE = 65_537


def reads_whole_files(context: RunContext) -> bool:
    """Return whether the target reads most of a file that is opened, or of which a byte is read.

    That is permitted, but takes long and much memory for very large files. True if nothing counts
    the bytes here.
    """
    program = _first_read(context.binding)
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


def pace_of_reads(context: RunContext) -> Pace:
    """Return how long a call takes for each byte that it reads, if it is not too late to measure.

    A stream may deliver one byte at a time, so that a long read takes many reads of its source.
    """
    if context.times.run.is_over:
        return Pace()
    at_once: list[float] = []
    if context.binding.fixed_content is None:  # the length of a given file does not depend on it
        at_once = _seconds(context, _TIMED, ("read_fully", (0, _TIMED, 0, _TIMED)))
        at_once = at_once or _seconds(context, _TIMED, ("py_read", (_TIMED,)))
    seconds = min(at_once, default=0.0)
    return Pace(seconds / _TIMED, _pace_of_lines(context, seconds))


def _pace_of_lines(context: RunContext, at_once: float) -> float:
    """Return how long a call takes for each byte of lines, infinity if that isn't measured.

    If it takes longer the more lines there are, it does so in longer files, too. Lines of a slow
    stream are timed in a small file first: those that take longer than a read `at_once`, in
    seconds, are read byte by byte. That isn't measured if little time is left.
    """
    if at_once and context.times.hangs.bytes_in_time < LINES:
        if context.times.run.left < _FEW * _LONGER * at_once:
            return inf
        pace = _pace_of_first_lines(context, _FEW)
        if pace * _FEW > _LONGER * at_once:
            return pace
    pace = _pace_of_first_lines(context, LINES)
    if not Pace(lines=pace).allows(_TIMED):
        return pace
    longer = _pace_of_first_lines(context, _TIMED)
    return longer if longer <= pace else longer * longer / pace


def _pace_of_first_lines(context: RunContext, count: int) -> float:
    """Return how long a call takes for each byte of the lines that have `count` bytes together."""
    fixed = context.binding.fixed_content
    length = count if fixed is None else len(fixed)
    if not 0 < length <= MOST_READ:
        return inf
    end = (content(length) if fixed is None else fixed).find(b"\n", count) + 1 or length
    if end > count + _LONGEST_LINE:
        return inf
    return min(_seconds(context, length, ("py_readlines", (count,))), default=inf) / end


def _seconds(context: RunContext, length: int, call: Call) -> list[float]:
    """Return how long each of several runs of a call takes, nothing if it can't be made."""
    taken: list[float] = []

    def time(program: Program) -> None:
        start = clock.monotonic()
        context.executor.run(program)
        taken.append(clock.monotonic() - start)

    operations = context.operations & (context.settings.relevant or context.operations)
    if call[0] in operations:
        programs = [program_of(length, [call])] * (1 if context.is_slow else _TIMES)
        run_items(context, takewhile(lambda _: not context.times.run.is_over, programs), time)
    return taken


def _bytes_read() -> int:
    """Return the number of bytes read; raise OSError where nothing counts them."""
    with open(_COUNTERS, encoding="ascii") as counters:
        return int(next(counters).partition(":")[2])
