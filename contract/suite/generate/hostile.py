"""The calls of a builder that programs try: every key with every value that may be misread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from fscontract.contract.anchors import Argument
from fscontract.contract.models.openfile import read_value
from fscontract.contract.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.contract.opening import BuilderCall, Opening

#: Text that is read wrongly by some language or other. The number has more digits than Python
#: converts; the long text does not fit a length of 16 bits; two have letters from right to left.
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
    "NaN",
    "1e309",
    "-0",
)
#: Whole numbers, as the `long` methods take them.
NUMBERS: tuple[Argument, ...] = (0, 1, -1, "len-1", "len", "len+1", "max")
#: Numbers, as the `double` methods take them.
REALS: tuple[Argument, ...] = (0, -1, "len-1", "len", "max", 1.8, 2000.0, 43.2e60, -0.5)
#: A key that nobody has.
UNKNOWN = "fs.fscontract.unknown"
#: Keys that nobody has, one of them looking like a standard one.
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
#: Read policies of which a filesystem has to pick the first that it knows.
POLICY_LISTS = (
    "nonsense, random",
    " RandOm ,vector",
    ",,",
    "sequential, nonsense",
    "nonsense,whole-file,nonsense",
    "nonsense, unknown",
)
#: Both ways to set an option.
WAYS = ("opt", "must")


def policies() -> tuple[str, ...]:
    """Every read policy."""
    return tuple(option_table().policies)


def values(key: str) -> Iterator[BuilderCall]:
    """Every value for a key: the examples of its type, and text that may be misread."""
    option = option_table().options.get(key)
    examples = option_table().types[option.type if option is not None else "text"].examples
    texts = ("7", "true") if option is None else ()
    given = (*(value for value, _ in examples), *texts, *TEXTS)
    for value in dict.fromkeys((type(v), v) for v in given):
        for way in WAYS:
            if isinstance(value[1], float):
                yield way + "_double", key, _real(value[1])
            else:
                yield way, key, value[1]


def numbers(key: str) -> Iterator[BuilderCall]:
    """Every number for a key, by the methods that take numbers."""
    for way in WAYS:
        yield from ((way + "_long", key, number) for number in NUMBERS)
        yield from ((way + "_double", key, number) for number in REALS)


def by_every_method(key: str | None) -> Iterator[BuilderCall]:
    """A plain value for a key, by each of the six methods."""
    for way in WAYS:
        yield way, key, "7"
        yield way + "_long", key, 7
        yield way + "_double", key, 7.5


def nulls(keys: Iterable[str]) -> Iterator[tuple[BuilderCall, ...]]:
    """A null key by each method, and a null value for each of these keys."""
    yield from ((call,) for call in by_every_method(None))
    for key in keys:
        yield from (((way, key, None),) for way in WAYS)
    yield ("opt", READ_POLICY, "random"), ("opt", READ_POLICY, None)


def foreign_keys(own: frozenset[str]) -> list[str]:
    """Keys of other stores, in the order of the table."""
    options = option_table().options.values()
    return [option.key for option in options if not option.standard and option.key not in own]


def conflicts(keys: Iterable[str]) -> Iterator[tuple[BuilderCall, ...]]:
    """The same key set twice, in which the last call counts."""
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
    """The size of the buffer by its method, by its key, and by both in either order."""
    sizes: tuple[Argument, ...] = (0, 1, -1, "len", "buf", 2**31 - 1)
    yield from ((("buffer_size", size),) for size in sizes)
    for size, other in ((1, 4), (4096, 0), (0, 16), (-1, 1), (4, -1)):
        yield ("buffer_size", size), ("opt_long", BUFFER_SIZE, other)
        yield ("opt", BUFFER_SIZE, str(other)), ("buffer_size", size)
        yield ("must", BUFFER_SIZE, "no"), ("buffer_size", size)


def splits(ends: Iterable[tuple[Argument, Argument]]) -> Iterator[tuple[BuilderCall, ...]]:
    """These starts and ends of splits (None: not set), as hints and as mandatory ones."""
    for start, end in ends:
        for way in ("opt_long", "must_long"):
            pair = ((SPLIT_START, start), (SPLIT_END, end))
            yield tuple((way, key, at) for key, at in pair if at is not None)


def overstates(calls: tuple[BuilderCall, ...], length: int) -> bool:
    """Whether a call, even one that should not count, says that there are over `length` bytes."""
    return any(_said(call) > length for call in Opening("file", calls).resolved(length, 0).calls)


def _said(call: BuilderCall) -> int:
    method, *args = call
    if method == "with_file_status":
        said = args[1]
    elif args[0] in (LENGTH, SPLIT_END):
        said = read_value(method, args[1], args[0], option_table())
    else:
        return -1
    return said if isinstance(said, int) else -1


def _real(value: float) -> float | str:
    """A number of `opt_double` as a program has it: JSON has no words for these three."""
    return value if math.isfinite(value) else str(value)
