"""Arguments for builder calls: keys with misleading values, and reads that follow an open."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.contract.models.openfile_resolution import read_value
from fscontract.contract.program.arguments import Argument, resolve
from fscontract.contract.program.open_calls import BuilderCall, Opening
from fscontract.contract.program.program import Step

#: Text that some languages misparse. The number has more digits than Python converts; the long
#: text does not fit a 16-bit length; two contain right-to-left letters.
TEXTS = (
    "",
    "   ",
    "\0",
    "9" * 5000,
    "\N{GRINNING FACE}",
    "\N{RIGHT-TO-LEFT OVERRIDE}321",
    "\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED}",
    "x" * 70_000,
    "1\n2",
    "None",
    "null",
    "true ",
    "\t 7\r\n",
    "\x0b7\x0c",
    "NaN",
    "1e309",
    "-0",
)
#: Whole numbers, as the `long` methods take them.
NUMBERS: tuple[Argument, ...] = (0, 1, -1, "len-1", "len", "len+1", "max")
#: Numbers, as the `double` methods take them.
REALS: tuple[Argument, ...] = (0, -1, "len-1", "len", "max", 1.8, 2000.0, 43.2e60, -0.5)
#: A key that no filesystem knows.
UNKNOWN = "fs.fscontract.unknown"
#: Keys that no filesystem knows; one of them looks like a standard key.
UNKNOWN_KEYS = (
    UNKNOWN,
    PREFIX + "unknown",
    PREFIX.upper() + "LENGTH",
    "",
    " ",
    "\0",
    "a\nb",
    "\N{GRINNING FACE}",
    "\N{RIGHT-TO-LEFT OVERRIDE}321",
    "x" * 70_000,
)
#: Lists of read policies; a filesystem must use the first one that it knows.
POLICY_LISTS = (
    "nonsense, random",
    " RandOm ,vector",
    ",,",
    "sequential, nonsense",
    "nonsense,whole-file,nonsense",
    "nonsense, unknown",
)
#: The text of the largest integer of 32 bits, among the examples of integers.
_TWO_GIGABYTES = "2147483647"
#: Both ways to set an option.
WAYS = ("opt", "must")


def policies() -> tuple[str, ...]:
    """Return every read policy."""
    return tuple(option_table().policies)


def values(key: str) -> Iterator[BuilderCall]:
    """Yield every value for a key: the examples of its type, and text that is easily misparsed."""
    option = option_table().options.get(key)
    examples = option_table().types[option.type if option is not None else "text"].examples
    texts = ("7", "true") if option is None else ()
    examples_ = [*(value for value, _ in examples), *texts, *TEXTS]
    if key == BUFFER_SIZE:  # a filesystem may allocate a buffer of the size that it is given
        examples_.remove(_TWO_GIGABYTES)
    for value in dict.fromkeys((type(v), v) for v in examples_):
        for way in WAYS:
            if isinstance(value[1], float):
                yield way + "_double", key, _real(value[1])
            else:
                yield way, key, value[1]


def numbers(key: str) -> Iterator[BuilderCall]:
    """Yield every number for a key, by the methods that take numbers."""
    for way in WAYS:
        yield from ((way + "_long", key, number) for number in NUMBERS)
        yield from ((way + "_double", key, number) for number in REALS)


def by_every_method(key: str | None) -> Iterator[BuilderCall]:
    """Yield a plain value for a key, by each of the six methods."""
    for way in WAYS:
        yield way, key, "7"
        yield way + "_long", key, 7
        yield way + "_double", key, 7.5


def of_every_type(key: str) -> Iterator[BuilderCall]:
    """Yield an integer and a boolean for a key: opt() and must() take them beside text."""
    for way in WAYS:
        yield way, key, 7
        yield way, key, True


def orders(key: str) -> Iterator[tuple[BuilderCall, ...]]:
    """Yield every pair of methods that set a key; the last one says whether it is mandatory."""
    yield from itertools.permutations(by_every_method(key), 2)


def nulls(keys: Iterable[str]) -> Iterator[tuple[BuilderCall, ...]]:
    """Yield a null key by each method, and a null value for each of these keys."""
    yield from ((call,) for call in by_every_method(None))
    for key in keys:
        yield from (((way, key, None),) for way in WAYS)
    yield ("opt", READ_POLICY, "random"), ("opt", READ_POLICY, None)


def foreign_keys(own: frozenset[str]) -> list[str]:
    """Return the keys of other stores, in the order of the table.

    A store may know every key whose first two words are those of an own key, such as `fs.s3a`.
    """
    spaces = {_namespace(key) for key in own}
    options = option_table().options.values()
    return [o.key for o in options if not o.standard and _namespace(o.key) not in spaces]


def _namespace(key: str) -> str:
    return ".".join(key.split(".")[:2])


def conflicts(keys: Iterable[str]) -> Iterator[tuple[BuilderCall, ...]]:
    """Yield calls that set the same key twice; the last call wins."""
    for key in keys:
        yield ("opt", key, "1"), ("must", key, "1")
        yield ("must", key, "1"), ("opt", key, "1")
        yield ("must_long", key, 1), ("opt_double", key, 1.5)
        yield ("opt_long", key, 1), ("must_double", key, 1.5)
        yield ("opt", key, "no"), ("opt", key, "1"), ("must", key, "no")
    twice: tuple[tuple[str, Argument, Argument], ...] = (
        (LENGTH, "len-1", "len"),
        (LENGTH, 0, -1),
        (SPLIT_START, 0, "len-1"),
        (SPLIT_END, 1, "len"),
        (BUFFER_SIZE, 1, 4096),
    )
    for key, one, other in twice:
        yield ("opt_long", key, one), ("opt_long", key, other)
        yield ("must_long", key, other), ("opt_long", key, one)
    yield ("opt", READ_POLICY, "random"), ("opt", READ_POLICY, "sequential")
    yield ("must", READ_POLICY, "nonsense"), ("opt", READ_POLICY, "vector")
    yield ("opt", FOOTER_CACHE, True), ("must", FOOTER_CACHE, False)
    yield from _buffer_sizes()


def _buffer_sizes() -> Iterator[tuple[BuilderCall, ...]]:
    """Yield the buffer size by its method, by its key, and by both in either order."""
    sizes: tuple[Argument, ...] = (0, 1, -1, "len", "buf", 2**20)
    yield from ((("buffer_size", size),) for size in sizes)
    for size, other in ((1, 4), (4096, 0), (0, 16), (-1, 1), (4, -1)):
        yield ("buffer_size", size), ("opt_long", BUFFER_SIZE, other)
        yield ("opt", BUFFER_SIZE, str(other)), ("buffer_size", size)
        yield ("must", BUFFER_SIZE, "no"), ("buffer_size", size)


def splits(ends: Iterable[tuple[Argument, Argument]]) -> Iterator[tuple[BuilderCall, ...]]:
    """Yield these starts and ends of splits (None: not set), as hints and as mandatory ones."""
    for start, end in ends:
        for way in ("opt_long", "must_long"):
            pair = ((SPLIT_START, start), (SPLIT_END, end))
            yield tuple((way, key, at) for key, at in pair if at is not None)


def overstates(calls: tuple[BuilderCall, ...], length: int) -> bool:
    """Return whether a call, even an ineffective one, declares more than `length` bytes."""
    return any(
        _stated_length(call) > length for call in Opening("file", calls).resolved(length, 0).calls
    )


def _stated_length(call: BuilderCall) -> int:
    method, *args = call
    if method == "with_file_status":
        length = args[1]
    elif args[0] in (LENGTH, SPLIT_END):
        length = read_value(method, args[1], args[0], option_table())
    else:
        return -1
    return length if isinstance(length, int) else -1


def _real(value: float) -> float | str:
    """Return a number of `opt_double` for JSON, which can't represent inf, -inf and nan."""
    return value if math.isfinite(value) else str(value)


Steps: TypeAlias = tuple[Step, ...]
_Calls: TypeAlias = tuple[tuple[str, tuple[Argument, ...]], ...]

#: A single read, for opens that only need to succeed or fail.
_GLANCES: tuple[_Calls, ...] = ((("read_byte", ()),), (("py_read", (1,)),))
#: Families whose reads stop at the real end; positioned reads may start past it.
_WITHIN: dict[str, _Calls] = {
    "bytes": (*[("read_byte", ())] * 3, ("get_pos", ())),
    "through": (("read_into", ("len", 0, "len")), ("get_pos", ()), ("read_byte", ())),
    "seek": (
        ("seek", ("len-1",)),
        ("read_byte", ()),
        ("read_byte", ()),
        ("seek", (0,)),
        ("read_byte", ()),
        ("get_pos", ()),
    ),
    "pread": (
        ("pread", (0, 4, 1, 1)),
        ("pread", ("len-1", 4, 0, 1)),
        ("pread", ("len", 4, 0, 1)),
        ("pread", ("len+1", 4, 0, 2)),
        ("read_byte", ()),
    ),
    "fully": (
        ("read_fully", (0, "len", 0, "len")),
        ("read_fully_all", ("len-1", 1)),
        ("read_fully", ("len", 4, 0, 1)),
        ("read_byte", ()),
    ),
    "vectored": (
        # ranges that overlap in no file: streams of one filesystem may differ in what they refuse
        ("read_vectored", ((("len-1", 1),), "heap", "absent")),
        ("read_vectored", (((0, "len"),), "heap", "given")),
        ("read_byte", ()),
    ),
    "buffers": (
        ("pread_buffer", ("len-1", 1, 0, None)),
        ("read_fully_buffer", (0, "len", 0, None)),
        ("read_buffer", ("len", 0, None)),
        ("get_pos", ()),
    ),
    "unbuffer": (
        ("read_byte", ()),
        ("unbuffer", ()),
        ("pread", (0, 4, 0, 1)),
        ("read_byte", ()),
        ("unbuffer", ()),
        ("close", ()),
    ),
    "closed": (("get_pos", ()), ("close", ()), ("read_byte", ()), ("py_read", (1,))),
    "file": (
        ("py_read", (1,)),
        ("py_tell", ()),
        ("py_seek", ("len", 0)),
        ("py_read", (1,)),
        ("py_seek", (0, 0)),
        ("py_read", ("len",)),
        ("py_tell", ()),
    ),
    "file-into": (("py_readinto", ("B", "len")), ("py_seekable", ()), ("py_tell", ())),
}
#: Families that read or seek past the end.
_BEYOND: dict[str, _Calls] = {
    "sequential": (
        ("read_into", (4, 0, 4)),
        ("read_byte", ()),
        ("read_into", ("len+2", 0, "len+2")),
        ("read_byte", ()),
    ),
    "seek-beyond": (
        ("seek", ("len",)),
        ("read_byte", ()),
        ("seek", ("len+1",)),
        ("seek", (1,)),
        ("read_into", (4, 1, 2)),
        ("seek", (-1,)),
    ),
    "pread-over": (
        ("pread", (0, "len+2", 1, "len")),
        ("pread", ("len-1", 8, 0, 8)),
        ("read_fully", ("len-1", 8, 2, 4)),
        ("get_pos", ()),
        ("pread", (1, 8, 0, 4)),
    ),
    "vectored-over": (
        ("read_vectored", (((3, 2), (0, 2)), "view", "given")),
        ("read_vectored", (((0, 1), ("len", 1)), "heap", "absent")),
        ("read_vectored", (((0, "len+1"),), "heap", "absent")),
    ),
    "buffers-over": (
        ("read_buffer", (6, 1, 4)),
        ("pread_buffer", ("len-2", 6, 1, 5)),
        ("read_buffer", ("len+2", 0, None)),
    ),
    "skip": (("skip", (2,)), ("read_byte", ()), ("skip", ("len",)), ("read_byte", ())),
    "available": (("available", ()), ("read_byte", ()), ("available", ())),
    "sources": (("seek_to_new_source", (2,)), ("read_byte", ()), ("get_pos", ())),
    "file-all": (
        ("py_read", (3,)),
        ("py_seek", (1, 0)),
        ("py_readall", ()),
        ("py_read", (1,)),
    ),
    "file-end": (
        ("py_seek", (-1, 2)),
        ("py_read", (4,)),
        ("py_seek", ("len+2", 0)),
        ("py_read", (1,)),
    ),
    "file-lines": (
        ("py_readline", (2,)),
        ("py_readline", (None,)),
        ("py_seek", (0, 0)),
        ("py_readlines", (None,)),
    ),
}

#: Every form of read, past the real end of a file whose length is overstated: each has to end.
_PAST_END: tuple[_Calls, ...] = (
    (("read_byte", ()), *[("read_into", (16, 0, 16))] * 3),
    (("read_byte", ()), *[("read_buffer", (16, 0, None))] * 3),
    (("pread", ("len-1", 16, 0, 16)), ("pread", ("len", 16, 0, 16)), ("pread", ("len", 2, 0, 1))),
    (("pread_buffer", ("len-1", 16, 0, None)), ("pread_buffer", ("len", 16, 0, None))),
    (("read_fully", ("len-1", 16, 0, 3)),),
    (("read_fully_all", (0, "len+1")),),
    (("read_fully_buffer", ("len-1", 3, 0, None)),),
    (("read_vectored", (((0, 1), ("len-1", 3)), "heap", "absent")),),
    (("read_byte", ()), *[("py_read", (16,))] * 3),
    (("py_read", (1,)), ("py_read", (-1,)), ("py_read", (-1,))),
    (("py_read", (1,)), ("py_readall", ()), ("py_readall", ())),
    (("py_read", (1,)), *[("py_readinto", ("B", 16))] * 3),
    (("py_read", (1,)), *[("py_readline", (None,))] * 3),
    (("py_read", (1,)), ("py_readlines", (None,)), ("py_readlines", (None,))),
    (("py_read", (1,)), *[("py_next", ())] * 3),
    (("py_read", (1,)), *[("py_read1", (16,))] * 3, ("py_read1", (-1,))),
)


class Readings:
    """The families of reads that the API supports.

    They are the same objects each time, so that they run fast.
    """

    def __init__(self, operations: Iterable[str]) -> None:
        self._operations = frozenset(operations)
        glances = (self._steps(calls) for calls in _GLANCES)
        #: The shortest family; empty if the API can't read.
        self.glance: Steps = next((steps for steps in glances if steps), ())
        self._within = self._families(_WITHIN) or [self.glance]
        self._all = self._within + self._families(_BEYOND)
        #: Reads past the real end of a file.
        self.past_end = self._families({str(n): calls for n, calls in enumerate(_PAST_END)})
        self._sober: dict[int, list[Steps]] = {}
        self._second_streams: dict[Steps, Steps] = {}

    def families(self, length: int, overstated: bool) -> list[Steps]:
        """Return the families for a file of `length` bytes.

        `overstated` means that a greater length is declared.
        """
        if not overstated:
            return self._all
        sober = self._sober.get(length)
        if sober is None:
            fitting = [s for s in self._within if all(stays(step, length) for step in s)]
            sober = self._sober[length] = fitting or [self.glance]
        return sober

    def both(self, first: Steps, second: Steps) -> Steps:
        """Alternate the first on one stream and the second on another."""
        second_stream = self._second_streams.get(second)
        if second_stream is None:
            second_stream = self._second_streams[second] = tuple(
                replace(step, stream=1) for step in second
            )
        pairs = itertools.zip_longest(second_stream, first)
        return tuple(step for pair in pairs for step in pair if step is not None)

    def _families(self, table: dict[str, _Calls]) -> list[Steps]:
        families = (self._steps(calls) for calls in table.values())
        return [steps for steps in dict.fromkeys(families) if steps]

    def _steps(self, calls: _Calls) -> Steps:
        return tuple(Step(op, args) for op, args in calls if op in self._operations)


def stays(step: Step, length: int) -> bool:
    """Return whether a call leaves a stream within the first `length` bytes.

    It must also not ask for data past them that can't be known. Stream reads can't be judged by
    their arguments.
    """
    args = tuple(resolve(a, length, 0) for a in step.args)
    if step.op in ("available", "skip"):
        return False
    if step.op in ("seek", "seek_to_new_source"):
        return bool(args[0] <= length)
    if step.op == "py_seek":
        return bool(args[1] == 0 and args[0] <= length)
    if step.op == "read_vectored":
        return all(offset + count <= length for offset, count in args[0])
    return True
