"""Scenarios that read a file in blocks of several sizes, and compare all records with the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.models.blockreader import (
    BOM,
    CLAUSES,
    NONE_LOST,
    ORDER,
    Block,
    Layout,
    judge,
    split_blocks,
)
from fscontract.contract.models.violation import Violation
from fscontract.contract.runner.sandbox import error_text
from fscontract.contract.scenarios.blockreader.harness import (
    OF_CONTEXT,
    ReaderHarness,
    as_reported,
)
from fscontract.contract.scenarios.scenario import Scenario, Violated

#: The usual context.
_USUAL = Layout(b"").context


@dataclass(frozen=True)
class Case:
    """A file that is read in blocks of each of the `sizes`.

    A wrong record violates `clause`; without a clause, the model names the violated one, as it does
    if all records are right except for their order, which is a matter of record.order alone. With
    `strides`, blocks are read out of order: every n-th block first, then the ones after these.
    `shorts` limits reads as in InstrumentedFiles.
    """

    clause: str
    layout: Layout
    sizes: Sequence[int] = (1, 2, 3, 4, 5, 7, 1000)
    shorts: Sequence[int] = ()
    buffer: int | None = None
    overflow: int | None = None
    strides: int = 1

    def __call__(self, harness: ReaderHarness) -> None:
        """Read the file in blocks of each size, and judge the records.

        Each kind of violation counts once, with the first size that shows it.
        """
        numbers: dict[tuple[str, str], int] = {}
        for size in self.sizes:
            blocks = split_blocks(len(self.layout.data), size, self.layout.data_offset)
            if self.strides > 1:
                blocks = [b for i in range(self.strides) for b in blocks[i :: self.strides]]
            file = ReaderHarness(harness.binding, self.clause or "record.none-twice")
            violation = self._read(harness, file, blocks)
            if violation is None:
                harness.use(*file.uses)
                harness.observations |= {"records", "offsets", "block ids", "order"}
                continue
            shown = self._shown(violation, size, file.uses)
            number = numbers.setdefault((shown.kind, shown.difference), len(harness.violations))
            if number == len(harness.violations):
                harness.record(shown)
            else:
                self._extend(harness, number, shown, size)
        if numbers:
            raise Violated(harness.violations[min(numbers.values())])

    def _shown(self, violation: Violation, size: int, uses: frozenset[str]) -> Violation:
        """Return the violation, which blocks of this size show, in the form of reports."""
        reading = f"{self.layout.data!r:.120} in blocks of {size}"
        clause = violation.clause if violation.clause == ORDER else self.clause or violation.clause
        return replace(
            as_reported(violation, clause),
            expected=f"{reading}: {violation.expected}",
            uses=uses,
            extent=f"blocks of {size}",
        )

    def _extend(self, harness: ReaderHarness, number: int, again: Violation, size: int) -> None:
        """Note that blocks of another size show a violation, too; the simplest one counts."""
        before = harness.violations[number]
        uses = min(before.uses, again.uses | harness.uses, key=len)
        extended = replace(before, uses=uses, extent=f"{before.extent}, {size}")
        harness.violations[number] = extended

    def _read(
        self, harness: ReaderHarness, file: ReaderHarness, blocks: Sequence[Block]
    ) -> Violation | None:
        """Read the blocks by a new reader; return the first violation."""
        file.file(self.layout.data)
        file.fs.shorts = self.shorts
        try:
            with closing(file.reader(**self.settings)) as reader:
                delivered = file.read(reader, *blocks)
        except Violated as violated:
            return violated.violation
        except UnsupportedOperationException:
            raise
        # any exception is a violation: the read had no reason to fail
        except BaseException as error:
            kind = type(error).__name__
            return Violation(self.clause or NONE_LOST, "records", error_text(error), kind=kind)
        if self.clause:
            harness.judged(self.clause)
            return judge(self.layout, blocks, delivered)
        harness.step()
        return judge(self.layout, blocks, delivered, harness.exercised)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the reader that are not its defaults."""
        layout, too_long = self.layout, None
        if layout.limit is not None:
            too_long = "skip" if layout.skips else "truncate"
        settings = {
            "context": layout.context,
            "delimiter": layout.delimiter,
            "length": layout.length,
            "max_length": layout.limit,
            "on_too_long": too_long,
            "drop_blank": layout.drop_blank,
            "data_offset": layout.data_offset,
            "buffer_size": self.buffer,
            "overflow_buffer_size": self.overflow,
        }
        return {name: value for name, value in settings.items() if value and value != _USUAL}


#: A hundred different lines of 123 bytes each.
LINES = b"".join(b"%05d|%s\n" % (i, bytes([97 + i % 26]) * 116) for i in range(100))
#: 33 kB of more than 4,096 lines; the last one has no line end.
UNENDED = b"\n".join(b"%07d" % i for i in range(4100))


def _cases(clause: str, *datas: bytes, **layout: object) -> list[Case]:
    return [Case(clause, Layout(data, **layout)) for data in datas]  # type: ignore[arg-type]


#: Records that end in a carriage return. The delimiters begin with one, or are a line end.
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
#: A long delimiter.
WIDE = b"--- the end of this part ---\r\n"
#: Lines at a limit of 10 bytes, above it, and below it.
AT_LIMIT = b"\n".join([b"a" * 10, b"b" * 11, b"c" * 10 + b"\r", b"d" * 9 + b"\r", b"e" * 10])
#: Bytes that text converts, strips or splits at.
BYTES = b"\xff\0\r\n \xc3\xa9\n\r\t\xe9\0 "
#: Block sizes that end at each byte of such a file, and inside its delimiters.
SMALL = (1, 2, 3, 4, 5, 6, 7, 8)

#: 170 kB: lines longer than 17 bits can count, and short ones behind them.
LONG = b"%s\nab\n%s\ncd\nef" % (b"x" * 140_000, bytes(range(97, 123)) * 1100)
#: What other readers of text take for comments, quotes, continued lines, ends, or values.
MARKS = (
    b"#a\n//b\n--c\nd",
    b"\"a\nb\"\n'c\nd'\ne",
    b"a\\\nb\\n\n\\\\\nc",
    b"a\x1ab\n\x04\nc",
    b"same\n" * 9,
)
#: Files whose records the model judges.
GENERAL = [
    Case("", Layout(LONG), sizes=(30_000, 200_000)),
    Case("", Layout(LONG, "line"), sizes=(200_000,)),
    Case("", Layout(LINES), sizes=(20_000, 1000, 123)),
    Case("", Layout(LINES), sizes=(1000,), strides=10),
    Case("", Layout(LINES, "line"), sizes=(20_000, 1000, 123)),
    Case("", Layout(LINES, "line"), sizes=(1000,), strides=10),
    Case("", Layout(b"alpha\nbeta\ngamma\ndelta\n")),
    Case("", Layout(b"one\ntwo\nthree\nfour"), strides=3),
    Case("", Layout(b"")),
    Case("", Layout(b"ab\ncd\nef\n"), sizes=(3,)),
    Case("", Layout(b" a \t\n\tb\n \nc ")),
    *(Case("", Layout(data), sizes=(1, 5, 1000)) for data in MARKS),
]


def _across_buffers(end: bytes) -> bytes:
    """Return 66 kB of lines, whose ends are across the multiples of 4,096 bytes."""
    data = b""
    for number in range(1, 17):
        before = 1 + number % (len(end) - 1)
        data += b"x" * (4096 * number - before - len(data)) + end
    return data


#: Line ends and delimiters across the ends of buffers.
ENDS_ACROSS, DELIMITERS_ACROSS = _across_buffers(b"\r\n"), _across_buffers(b"<=>")
RECORDS = [
    *_cases("record.final", b"a", b"a\nb", b"a\r\nb"),
    Case("record.final", Layout(UNENDED), sizes=(40_000, 9000), buffer=8192, overflow=8192),
    *_cases("record.no-phantom", b"a\n", b"a\nb\n", b"a\r\n", b"a\r"),
    Case("record.many-blocks", Layout(b"a" * 50 + b"\nb\n" + b"c" * 40), sizes=(1, 3, 10)),
    Case("record.many-blocks", Layout(b"a" * 50 + b"\nb\n" + b"c" * 40), sizes=(3, 10), strides=2),
    Case("record.many-blocks", Layout(b"a" * 300 + b"\nb\n" + b"c" * 40), sizes=(1, 2)),
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
    *_cases(
        "record.bytes", "é\nüü\ne\u0301\n€uro\n".encode(), b"\xff\xfe\n\x80\n\x00\n", b"a\n" + BOM
    ),
    *_cases("record.bytes", BOM[:2], BOM[:2] + b"\n", BOM[2:] + b"a\n", BOM[1:] + BOM + b"a\n"),
    Case("record.bytes", Layout(b"HEADER\n" + BOM + b"a\n", data_offset=7)),
    *_cases("record.bytes", b"a\vb\fc\x1cd\x1de\x1ef\x85g\n", "a\u2028b\u2029c\x85\n".encode()),
    *_cases("record.crlf", b"a\r\nb\r\nc\r\n", b"a\r\n\r\nb\r\n"),
    Case("record.crlf-buffer", Layout(b"abcdefg\r\nhij\r\nk"), (100,), buffer=8),
    Case("record.crlf-buffer", Layout(b"abcdefg\r\nhij\r\nk"), (100,), buffer=1),
    Case("record.crlf-blocks", Layout(b"abc\r\nde\r\n\r\nf"), (4, 1, 2, 3)),
    Case("record.crlf-buffer", Layout(ENDS_ACROSS), (100_000,)),
    *_cases("record.cr", b"a\rb\rc", b"a\rb\nc\r\nd", b"a\r\r\nb\r\r\r\n"),
    *_cases("record.cr", b"a\rb\nc\r\nd\r\r", context="line"),
    *_cases("record.blank", b"\n\na\n\n\nb\n\n", b"\n\n\n", b"\r\n\r\na\r\n"),
    Case("record.drop-blank", Layout(b"\n\na\n\n\nb\n\n", drop_blank=True)),
    *_cases("record.drop-blank", b"\r\n\r\na\r\n\rb\n\r\n", b" \n\ta\n\t\n", drop_blank=True),
    *_cases("record.delimiter", b"a|b\n|c", b"|a||b|", delimiter=b"|"),
    *_cases("record.delimiter", b"a--b-c--d", delimiter=b"--"),
    *_cases("record.delimiter", b"1x2X3.4", delimiter=b"x"),
    *_cases("record.delimiter", b"1x2.3", delimiter=b"."),
    *_cases("record.delimiter", b"a\0b\0\0c\n", delimiter=b"\0"),
    *_cases("record.delimiter", b"1a\0b2a3a\0\0b", delimiter=b"a\0b"),
    *_cases("record.delimiter", b"a\xff\xfeb\x7f~c\xff\xfe", delimiter=b"\xff\xfe"),
    *_cases("record.delimiter", b"a%sb%sc" % (WIDE, WIDE[:-1]), delimiter=WIDE),
    Case(
        "record.delimiter",
        Layout(b"a%sb%sc" % (WIDE * 9, WIDE * 8), delimiter=WIDE * 9),
        (100, 1000),
    ),
    *(Case("record.delimiter", layout, sizes) for layout in RETURNS for sizes in (SMALL, (1000,))),
    *(Case("record.delimiter", layout, shorts=(1,), buffer=2) for layout in RETURNS),
    Case("record.delimiter-cut", Layout(b"a<=>b<=>cc<=>", delimiter=b"<=>"), buffer=2, overflow=1),
    Case("record.delimiter-cut", Layout(b"a<=>b<=>cc<=>", delimiter=b"<=>"), buffer=1),
    Case("record.delimiter-cut", Layout(DELIMITERS_ACROSS, delimiter=b"<=>"), (100_000,)),
    *_cases("record.delimiter-overlap", b"|||b", b"|||||", b"a||||b|||c", delimiter=b"||"),
    *_cases("record.delimiter-overlap", b"a|-|-|-|b|-|", delimiter=b"|-|"),
    *_cases("record.delimiter-overlap", b"abababababab", delimiter=b"abab"),
    *_cases("record.bom", BOM + b"a\nb\n" + BOM + b"c\n", BOM, BOM + b"\n", b"a\n" + BOM),
    *_cases("record.bom", BOM + BOM + b"a\n"),
    Case("record.limit", Layout(b"a" * 50 + b"\nbb\n" + b"c" * 11, limit=10), (1, 7, 20, 100)),
    Case("record.limit", Layout(b"a" * 50 + b"\nbb\n" + b"c" * 10, limit=10, skips=True), (7, 20)),
    *(Case("record.limit", Layout(AT_LIMIT, limit=10, skips=skips)) for skips in (False, True)),
    Case("record.line-rest", Layout(b"abcdef\nghijkl\n", "line"), (4,)),
    Case("record.line-rest", Layout(b"abc\n\ndef\n", "line"), (4, 5)),
    Case("record.line-rest", Layout(b"abc\r\nde\r\n\r\nf", "line"), SMALL),
    *_cases("record.line-rest", b"a--b---c--", context="line", delimiter=b"--"),
    Case("record.line-completes", Layout(b"abcdef\nghijkl\nmn\n", "line"), (8, 10)),
    Case("record.fixed-length", Layout(b"0123456789" * 4, "fixed", length=5), (20, 40)),
    *_cases("record.fixed-length", BYTES, context="fixed", length=5),
    Case("record.fixed-within", Layout(b"0123456789" * 4, "fixed", length=6), (20, 7, 40)),
    Case("record.fixed-fully", Layout(b"0123456789" * 4, "fixed", length=5), (20,), (3, 1)),
    *_cases("record.width-owner", BYTES, context="fixed-width", length=5),
    Case("record.width-owner", Layout(b"0123456789" * 4 + b"01", "fixed-width", length=6)),
    Case(
        "record.width-owner",
        Layout(b"##" + b"0123456789" * 4, "fixed-width", length=6, data_offset=2),
    ),
]


def _scenarios() -> Iterator[Scenario[ReaderHarness]]:
    names = Counter[str]()
    for number, case in enumerate((*GENERAL, *RECORDS)):
        clauses = (case.clause,) if case.clause else CLAUSES
        description = "A file is read in blocks of several sizes."
        name = f"file {case.layout.data!r:.60}" if case.clause else f"file {number}"
        names[name] += 1
        another = names[name] if names[name] > 1 else 0
        yield Scenario(name, clauses, clauses[0], case, description, number=another)


#: The parts of random files, and the delimiters of their records; None for line ends.
_PARTS = (b"a", b"b", b"ab", b"\n", b"\r", b"\r\n", b"|", b"-", b" ", b"\0", b"\xff", b"\xc3\xa9")
_DELIMITERS = (None, None, None, b"|", b"--", b"\r\n", b"aba", b"\n")
_CONTEXTS = ("read-ahead", "read-ahead", "read-ahead", "line", "fixed", "fixed-width")


def random_scenario(rng: Random) -> Scenario[ReaderHarness]:
    """Return a scenario that reads a random file by random settings in blocks of random sizes."""
    context, delimiter = rng.choice(_CONTEXTS), rng.choice(_DELIMITERS)
    is_fixed = context.startswith("fixed")
    parts = (*_PARTS, delimiter or b"\n", delimiter or b"\n")
    data = b"".join(rng.choices(parts, k=rng.randint(0, 30)))
    layout = Layout(
        data,
        context,
        None if is_fixed else delimiter,
        length=rng.randint(1, 7) if is_fixed else 0,
        data_offset=rng.randint(0, min(3, len(data))) if rng.random() < 0.2 else 0,
        drop_blank=not is_fixed and rng.random() < 0.2,
        limit=rng.randint(1, 6) if not is_fixed and rng.random() < 0.2 else None,
        skips=rng.random() < 0.5,
    )
    sizes = (*rng.sample(range(1, 10), 2), 1000)
    shorts = rng.choices(range(1, 5), k=2) if rng.random() < 0.3 else ()
    buffer, overflow = (rng.choice((None, None, 1, 2, 7)) for _ in range(2))
    clause = OF_CONTEXT.get(context, "")
    case = Case(clause, layout, sizes, shorts, buffer, overflow, strides=rng.choice((1, 1, 2)))
    description = "A random file is read in blocks of several sizes."
    clauses = (clause,) if clause else CLAUSES
    return Scenario("random", clauses, clauses[0], case, description, f"{case}")


#: One scenario for each of these files.
SCENARIOS = tuple(_scenarios())
