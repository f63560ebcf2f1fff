"""Files whose records have to come out whatever the blocks: what breaks which clause."""

from __future__ import annotations

from fscontract.contract.models.records import BOM, Layout
from fscontract.contract.suite.blockreader.bench import Case

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
    *_each("rec.final", b"a", b"a\nb", b"a\r\nb"),
    Case("rec.final", Layout(UNENDED), sizes=(40_000, 9000), buffer=8192, overflow=8192),
    *_each("rec.no-phantom", b"a\n", b"a\nb\n", b"a\r\n", b"a\r"),
    Case("rec.many-blocks", Layout(b"a" * 50 + b"\nb\n" + b"c" * 40), sizes=(1, 3, 10)),
    Case("rec.many-blocks", Layout(b"a" * 50 + b"\nb\n" + b"c" * 40), sizes=(3, 10), strides=2),
    Case("rec.data-offset", Layout(b"HEADERLINE\nrec1\nrec2\nrec3\n", data_offset=11)),
    Case("rec.data-offset", Layout(b"HEADERLINE\nrec1\nrec2\nrec3\n", data_offset=11), sizes=(10,)),
    Case("rec.short-reads", Layout(UNENDED), (40_000,), (4000,), buffer=16_384),
    Case("rec.short-reads", Layout(b"alpha\nbeta\r\ngamma"), shorts=(1,)),
    Case("rec.short-reads", Layout(b"alpha\nbeta\r\ngamma\n"), shorts=(3, 1, 2), buffer=5),
    Case("rec.stale-bytes", Layout(b"abcdefgh\nij"), (100, 4), (9, 2), buffer=9),
    Case("rec.buffers", Layout(b"alpha\nbeta\ngamma\n" * 5), (100, 9), buffer=8, overflow=32),
    Case("rec.buffers", Layout(b"alpha\nbeta\ngamma" * 5), (100, 9), buffer=1, overflow=1),
    *_each("rec.bytes", "é\nüü\n€uro\n".encode(), b"\xff\xfe\n\x80\n\x00\n"),
    *_each("rec.crlf", b"a\r\nb\r\nc\r\n", b"a\r\n\r\nb\r\n"),
    Case("rec.crlf-buffer", Layout(b"abcdefg\r\nhij\r\nk"), (100,), buffer=8),
    Case("rec.crlf-buffer", Layout(b"abcdefg\r\nhij\r\nk"), (100,), buffer=1),
    Case("rec.crlf-blocks", Layout(b"abc\r\nde\r\n\r\nf"), (4, 1, 2, 3)),
    *_each("rec.cr", b"a\rb\rc", b"a\rb\nc\r\nd", b"a\r\r\nb\r\r\r\n"),
    *_each("rec.blank", b"\n\na\n\n\nb\n\n", b"\n\n\n", b"\r\n\r\na\r\n"),
    Case("rec.drop-blank", Layout(b"\n\na\n\n\nb\n\n", drop_blank=True)),
    *_each("rec.delimiter", b"a|b\n|c", b"|a||b|", delimiter=b"|"),
    *_each("rec.delimiter", b"a--b-c--d", delimiter=b"--"),
    *(Case("rec.delimiter", layout, sizes) for layout in RETURNS for sizes in (SMALL, (1000,))),
    *(Case("rec.delimiter", layout, shorts=(1,), buffer=2) for layout in RETURNS),
    Case("rec.delimiter-cut", Layout(b"a<=>b<=>cc<=>", delimiter=b"<=>"), buffer=2, overflow=1),
    Case("rec.delimiter-cut", Layout(b"a<=>b<=>cc<=>", delimiter=b"<=>"), buffer=1),
    *_each("rec.delimiter-overlap", b"|||b", b"|||||", b"a||||b|||c", delimiter=b"||"),
    *_each("rec.delimiter-overlap", b"a|-|-|-|b|-|", delimiter=b"|-|"),
    *_each("rec.delimiter-overlap", b"abababababab", delimiter=b"abab"),
    *_each("rec.bom", BOM + b"a\nb\n" + BOM + b"c\n", BOM, BOM + b"\n", b"a\n" + BOM),
    Case("rec.limit", Layout(b"a" * 50 + b"\nbb\n" + b"c" * 11, limit=10), (1, 7, 20, 100)),
    Case("rec.limit", Layout(b"a" * 50 + b"\nbb\n" + b"c" * 10, limit=10, skips=True), (7, 20)),
    Case("rec.line-rest", Layout(b"abcdef\nghijkl\n", "line"), (4,)),
    Case("rec.line-rest", Layout(b"abc\n\ndef\n", "line"), (4, 5)),
    Case("rec.line-completes", Layout(b"abcdef\nghijkl\nmn\n", "line"), (8, 10)),
    Case("rec.fixed-length", Layout(b"0123456789" * 4, "fixed", length=5), (20, 40)),
    Case("rec.fixed-within", Layout(b"0123456789" * 4, "fixed", length=6), (20, 7, 40)),
    Case("rec.fixed-fully", Layout(b"0123456789" * 4, "fixed", length=5), (20,), (3, 1)),
    Case("rec.width-owner", Layout(b"0123456789" * 4 + b"01", "fixed-width", length=6)),
    Case(
        "rec.width-owner",
        Layout(b"##" + b"0123456789" * 4, "fixed-width", length=6, data_offset=2),
    ),
]
