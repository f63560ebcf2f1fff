"""Play a scenario on a block reader: files, blocks, and the records it delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from fscontract.contract.models.blockreader import (
    BOM,
    Block,
    Broken,
    Layout,
    Seen,
    judge,
    split_blocks,
)
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    CheckedReader,
    DeliveredRecord,
    ReaderSettings,
)
from fscontract.contract.runner.sandbox import said_by
from fscontract.contract.scenarios.blockreader.instrumented_filesystem import Stage

PATH = "/file"


@dataclass(frozen=True)
class Case:
    """A file that is read in blocks of each of the `sizes`; what is odd breaks `clause`.

    An empty clause leaves it to the model to say what is broken. `strides` gives the blocks not in
    order, but every so many-th, and so on.
    """

    clause: str
    layout: Layout
    sizes: Sequence[int] = (1, 2, 3, 4, 5, 7, 1000)
    shorts: Sequence[int] = ()
    buffer: int | None = None
    overflow: int | None = None
    strides: int = 1


class Violated(Exception):
    """What a reader did is not what a clause wants."""

    def __init__(self, clause: str, expected: str, actual: str) -> None:
        super().__init__(f"{clause}: expected {expected}, not {actual}")
        self.broken = Broken(clause, expected, actual)


@dataclass
class Clock:
    """A time that passes when it is told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


@dataclass
class Bench:
    """One reader on one stage, for a scenario of one clause."""

    binding: BlockReaderBinding
    clause: str
    stage: Stage = field(default_factory=lambda: Stage({}))

    def file(self, data: bytes, path: str = PATH) -> Bench:
        """Put a file on the stage."""
        self.stage.files[path] = data
        return self

    def reader(self, **settings: Any) -> CheckedReader:
        """A reader with these settings."""
        return self.binding.reader(self.stage, ReaderSettings(**settings))

    def blocks(self, size: int, path: str = PATH, first_id: int = 1) -> list[Block]:
        """The blocks of a file of the stage."""
        length = self.stage.get_file_status(path).length
        return split_blocks(length, size, 0, path, first_id)

    def read(self, reader: CheckedReader, *blocks: Block) -> list[Seen]:
        """The records of blocks; Violated if they never end."""
        found = []
        for block in blocks:
            for record in self.records(reader, block):
                found.append(Seen(record.block_id, record.offset, record.record))
        return found

    def records(self, reader: CheckedReader, block: Block) -> Iterator[DeliveredRecord]:
        """The records of a block one by one; Violated if there are more than the file has bytes."""
        most = 50 + sum(len(data) for data in self.stage.files.values())
        return _bounded(reader.process(block), most, self.clause)

    def want(self, actual: object, expected: object, what: str = "") -> None:
        """Violated unless both are equal."""
        if actual != expected:
            head = f"{what}: " if what else ""
            raise Violated(self.clause, f"{head}{expected!r:.300}", f"{actual!r:.300}")

    def failure(self, act: Callable[[], object], *kinds: type[BaseException]) -> BaseException:
        """The exception of one of these kinds that a call raises; Violated if it does not."""
        try:
            result = act()
        except kinds as error:
            return error
        raise Violated(self.clause, "an exception", f"{result!r:.300}")


def run_case(binding: BlockReaderBinding, case: Case) -> Broken | None:
    """What is odd about a file that is read in blocks of one of the sizes."""
    layout = case.layout
    for size in case.sizes:
        blocks = split_blocks(len(layout.data), size, layout.data_offset)
        if case.strides > 1:
            blocks = [b for i in range(case.strides) for b in blocks[i :: case.strides]]
        broken = _run_blocks(binding, case, blocks)
        if broken is not None:
            place = f"{layout.data!r:.120} in blocks of {size}"
            clause = case.clause or broken.clause
            return replace_clause(broken, clause, f"{place}: {broken.expected}")
    return None


def replace_clause(broken: Broken, clause: str, expected: str) -> Broken:
    """The same finding, charged to a clause."""
    return broken._replace(clause=clause, expected=expected)


def _run_blocks(binding: BlockReaderBinding, case: Case, blocks: Sequence[Block]) -> Broken | None:
    layout, clause = case.layout, case.clause or "record.none-twice"
    bench = Bench(binding, clause).file(layout.data)
    bench.stage.shorts = case.shorts
    try:
        with closing(_reader_of(bench, case)) as reader:
            seen = bench.read(reader, *blocks)
    except Violated as found:
        return found.broken
    except BaseException as error:  # whatever it raises: there was no reason to
        return Broken(case.clause or "record.none-lost", "records", said_by(error))
    return judge(layout, blocks, seen)


def _reader_of(bench: Bench, case: Case) -> CheckedReader:
    layout = case.layout
    return bench.reader(
        context=layout.context,
        delimiter=layout.delimiter,
        length=layout.length or None,
        max_length=layout.limit,
        on_too_long=("skip" if layout.skips else "truncate") if layout.limit is not None else None,
        drop_blank=layout.drop_blank,
        data_offset=layout.data_offset,
        buffer_size=case.buffer,
        overflow_buffer_size=case.overflow,
    )


def _bounded(
    records: Iterable[DeliveredRecord], most: int, clause: str
) -> Iterator[DeliveredRecord]:
    for count, record in enumerate(records):
        if count >= most:
            raise Violated(clause, f"at most {most} records", "records without end")
        yield record


def in_context(layout: Layout, context: str) -> Layout:
    """The same file, read in another context."""
    return replace(layout, context=context)


#: A hundred lines of 123 bytes each, of which no two are equal.
LINES = b"".join(b"%05d|%s\n" % (i, bytes([97 + i % 26]) * 116) for i in range(100))
#: 30 kB of short lines, the last of which nothing ends.
UNENDED = b"\n".join(b"%07d" % i for i in range(4000))


def _each(clause: str, *datas: bytes, **layout: object) -> list[Case]:
    return [Case(clause, Layout(data, **layout)) for data in datas]  # type: ignore[arg-type]


#: Records that end in a carriage return, and delimiters that begin with one or are a line end.
RETURNS = [
    Layout(data, context, delimiter)
    for context in ("read-ahead", "line")
    for delimiter, data in (
        (b"|", b"a\r|b\r|\r|c\r\n|d\r"),
        (b"--", b"a\r--bc\r--\r--d\r\r--"),
        (b"\n", b"a\r\nb\n\r\nc\r\r\nd\r"),
        (b"\r", b"a\r\nb\r\r\n\rc"),
        (b"\r\n", b"a\rb\nc\r\nd\r\r\n\n\r\ne\r"),
        (b"\r|", b"a\r\r|b|\r|\n\r|c\r"),
    )
]
#: Sizes of blocks that end at each byte of such a file, and inside of its delimiters.
SMALL = (1, 2, 3, 4, 5, 6, 7, 8)

#: Without a clause of its own, each breaks what the model says.
GENERAL = [
    Case("", Layout(LINES), sizes=(20_000, 1000, 123)),
    Case("", Layout(LINES), sizes=(1000,), strides=10),
    Case("", Layout(LINES, "line"), sizes=(20_000, 1000, 123)),
    Case("", Layout(LINES, "line"), sizes=(1000,), strides=10),
    Case("", Layout(b"alpha\nbeta\ngamma\ndelta\n")),
    Case("", Layout(b"one\ntwo\nthree\nfour"), strides=3),
    Case("", Layout(b"")),
    Case("", Layout(b"ab\ncd\nef\n"), sizes=(3,)),
]

RECORDS = [
    *_each("record.final", b"a", b"a\nb", b"a\r\nb"),
    Case("record.final", Layout(UNENDED), sizes=(40_000, 9000), buffer=8192, overflow=8192),
    *_each("record.no-phantom", b"a\n", b"a\nb\n", b"a\r\n", b"a\r"),
    Case("record.many-blocks", Layout(b"a" * 50 + b"\nb\n" + b"c" * 40), sizes=(1, 3, 10)),
    Case("record.many-blocks", Layout(b"a" * 50 + b"\nb\n" + b"c" * 40), sizes=(3, 10), strides=2),
    Case("record.data-offset", Layout(b"HEADERLINE\nrec1\nrec2\nrec3\n", data_offset=11)),
    Case(
        "record.data-offset", Layout(b"HEADERLINE\nrec1\nrec2\nrec3\n", data_offset=11), sizes=(10,)
    ),
    Case("record.short-reads", Layout(UNENDED), (40_000,), (4000,), buffer=16_384),
    Case("record.short-reads", Layout(b"alpha\nbeta\r\ngamma"), shorts=(1,)),
    Case("record.short-reads", Layout(b"alpha\nbeta\r\ngamma\n"), shorts=(3, 1, 2), buffer=5),
    Case("record.stale-bytes", Layout(b"abcdefgh\nij"), (100, 4), (9, 2), buffer=9),
    Case("record.buffers", Layout(b"alpha\nbeta\ngamma\n" * 5), (100, 9), buffer=8, overflow=32),
    Case("record.buffers", Layout(b"alpha\nbeta\ngamma" * 5), (100, 9), buffer=1, overflow=1),
    *_each("record.bytes", "é\nüü\n€uro\n".encode(), b"\xff\xfe\n\x80\n\x00\n"),
    *_each("record.crlf", b"a\r\nb\r\nc\r\n", b"a\r\n\r\nb\r\n"),
    Case("record.crlf-buffer", Layout(b"abcdefg\r\nhij\r\nk"), (100,), buffer=8),
    Case("record.crlf-buffer", Layout(b"abcdefg\r\nhij\r\nk"), (100,), buffer=1),
    Case("record.crlf-blocks", Layout(b"abc\r\nde\r\n\r\nf"), (4, 1, 2, 3)),
    *_each("record.cr", b"a\rb\rc", b"a\rb\nc\r\nd", b"a\r\r\nb\r\r\r\n"),
    *_each("record.blank", b"\n\na\n\n\nb\n\n", b"\n\n\n", b"\r\n\r\na\r\n"),
    Case("record.drop-blank", Layout(b"\n\na\n\n\nb\n\n", drop_blank=True)),
    *_each("record.delimiter", b"a|b\n|c", b"|a||b|", delimiter=b"|"),
    *_each("record.delimiter", b"a--b-c--d", delimiter=b"--"),
    *(Case("record.delimiter", layout, sizes) for layout in RETURNS for sizes in (SMALL, (1000,))),
    *(Case("record.delimiter", layout, shorts=(1,), buffer=2) for layout in RETURNS),
    Case("record.delimiter-cut", Layout(b"a<=>b<=>cc<=>", delimiter=b"<=>"), buffer=2, overflow=1),
    Case("record.delimiter-cut", Layout(b"a<=>b<=>cc<=>", delimiter=b"<=>"), buffer=1),
    *_each("record.delimiter-overlap", b"|||b", b"|||||", b"a||||b|||c", delimiter=b"||"),
    *_each("record.delimiter-overlap", b"a|-|-|-|b|-|", delimiter=b"|-|"),
    *_each("record.delimiter-overlap", b"abababababab", delimiter=b"abab"),
    *_each("record.bom", BOM + b"a\nb\n" + BOM + b"c\n", BOM, BOM + b"\n", b"a\n" + BOM),
    Case("record.limit", Layout(b"a" * 50 + b"\nbb\n" + b"c" * 11, limit=10), (1, 7, 20, 100)),
    Case("record.limit", Layout(b"a" * 50 + b"\nbb\n" + b"c" * 10, limit=10, skips=True), (7, 20)),
    Case("record.line-rest", Layout(b"abcdef\nghijkl\n", "line"), (4,)),
    Case("record.line-rest", Layout(b"abc\n\ndef\n", "line"), (4, 5)),
    Case("record.line-completes", Layout(b"abcdef\nghijkl\nmn\n", "line"), (8, 10)),
    Case("record.fixed-length", Layout(b"0123456789" * 4, "fixed", length=5), (20, 40)),
    Case("record.fixed-within", Layout(b"0123456789" * 4, "fixed", length=6), (20, 7, 40)),
    Case("record.fixed-fully", Layout(b"0123456789" * 4, "fixed", length=5), (20,), (3, 1)),
    Case("record.width-owner", Layout(b"0123456789" * 4 + b"01", "fixed-width", length=6)),
    Case(
        "record.width-owner",
        Layout(b"##" + b"0123456789" * 4, "fixed-width", length=6, data_offset=2),
    ),
]
