"""Cases of the comparison: objects, and the reads of them."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

KIB = 1 << 10
MIB = 1 << 20
#: Receives the bytes that a run reads, in order.
Take: TypeAlias = Callable[[Any], None]
#: Executes the reads of a case.
Run: TypeAlias = Callable[[Take], None]

DATA, TEXT, PARQUET = "data.bin", "lines.txt", "table.parquet"
#: Bytes per stream read.
PIECE = 64 * KIB
#: Length of a positioned read or a range.
SHORT = 4 * KIB
#: Distance between the starts of nearby ranges.
STRIDE = 64 * KIB
_COLUMNS = 8


@dataclass(frozen=True)
class Shape:
    """Amount of data to read."""

    size: int = 64 * MIB
    ranges: int = 100
    split: int = 8 * MIB
    rows: int = 320_000
    #: Measure s3fs with all caches, not only its default one.
    caches: bool = True

    @property
    def row_group(self) -> int:
        """Rows per row group; there are five groups."""
        return self.rows // 5


@dataclass(frozen=True)
class Work:
    """Objects by key, and the read positions."""

    shape: Shape
    objects: dict[str, bytes] = field(repr=False)
    preads: list[int]
    near: list[int]
    spread: list[int]
    #: Start and end of a split of the text.
    split: tuple[int, int]
    row_group: int = 2
    columns: tuple[str, str] = ("c1", "c5")

    def expected(self, case: str) -> Digest:
        """Return the expected digest of a run of that case."""
        return self._digests()[case]()

    def _digests(self) -> dict[str, Callable[[], Digest]]:
        data, text = self.objects[DATA], self.objects[TEXT]
        first = text.index(b"\n", self.split[0]) + 1
        last = text.index(b"\n", self.split[1]) + 1
        preads = _at(data, self.preads)
        return {
            "open-unknown": lambda: digest([data[:KIB]]),
            "open-known": lambda: digest([data[:KIB]]),
            "preads": lambda: digest(preads),
            "preads-threads": lambda: digest(preads),
            "near": lambda: digest(_at(data, self.near)),
            "spread": lambda: digest(_at(data, self.spread)),
            "sequential": lambda: digest([data]),
            "parquet": self._columns,
            "split": lambda: digest([text[first:last]]),
        }

    def _columns(self) -> Digest:
        found = Digest()
        with io.BytesIO(self.objects[PARQUET]) as file:
            read_columns(file, self, found.take)
        return found


#: Descriptions of the cases, by name.
CASES = {
    "open-unknown": "open, then the first KiB; nothing is known of the object",
    "open-known": "open, then the first KiB; length and etag are known",
    "preads": "{ranges} random positioned reads of 4 KiB, one after the other",
    "preads-threads": "the same from 16 threads",
    "near": "{ranges} ranges of 4 KiB at once, one every 64 KiB",
    "spread": "{ranges} ranges of 4 KiB at once, spread over {size} MiB",
    "sequential": "{size} MiB from first to last, 64 KiB at a time",
    "parquet": "footer and two column chunks of a Parquet file of {parquet:.0f} MB, by pyarrow",
    "split": "a split of {split} MiB in the middle of a text of {size} MiB, as lines",
}


@dataclass
class Digest:
    """Number of bytes, and their checksum."""

    count: int = 0
    checksum: int = 0

    def take(self, data: Any) -> None:
        """Add bytes."""
        self.count += memoryview(data).nbytes
        self.checksum = zlib.crc32(data, self.checksum)


def digest(pieces: Iterable[Any]) -> Digest:
    """Return the digest of all pieces."""
    found = Digest()
    for piece in pieces:
        found.take(piece)
    return found


def title(case: str, work: Work) -> str:
    """Return a description of a case."""
    shape = work.shape
    return CASES[case].format(
        ranges=shape.ranges,
        size=shape.size // MIB,
        split=shape.split // MIB,
        parquet=len(work.objects[PARQUET]) / 1e6,
    )


def make_work(shape: Shape) -> Work:
    """Return the work, which is the same for the same shape."""
    source = random.Random(1)
    text = _text(source, shape.size)
    objects = {
        DATA: b"".join(source.randbytes(MIB) for _ in range(shape.size // MIB)),
        TEXT: text,
        PARQUET: _table(source, shape),
    }
    spaced = shape.size // shape.ranges
    start = (shape.size - shape.split) // 2 + 1
    return Work(
        shape,
        objects,
        [source.randrange(shape.size - SHORT) for _ in range(shape.ranges)],
        [5 * MIB + number * STRIDE for number in range(shape.ranges)],
        [number * spaced for number in range(shape.ranges)],
        (start, start + shape.split),
    )


def read_columns(file: Any, work: Work, take: Take, **options: Any) -> None:
    """Read two column chunks of a Parquet file; `file` is any input of pyarrow."""
    parquet = pq.ParquetFile(file, pre_buffer=True, **options)
    table = parquet.read_row_group(work.row_group, columns=list(work.columns))
    for column in table.columns:
        for chunk in column.chunks:
            values = memoryview(chunk.buffers()[1])
            take(values[chunk.offset * 8 : (chunk.offset + len(chunk)) * 8])
    parquet.close()


def read_lines(file: Any, work: Work, take: Take) -> None:
    """Read the lines of the split as a record reader does; the file is at the split's start."""
    position, end = work.split
    position += len(file.readline())  # belongs to the previous split
    while position <= end:
        line = file.readline()
        position += len(line)
        take(line)


def _at(data: bytes, places: list[int]) -> list[bytes]:
    return [data[place : place + SHORT] for place in places]


def _text(source: random.Random, size: int) -> bytes:
    lines = [source.randbytes(source.randrange(20, 60)).hex() + "\n" for _ in range(20_000)]
    block = "".join(lines).encode()
    return (block * (size // len(block) + 1))[: size - 1] + b"\n"


def _table(source: random.Random, shape: Shape) -> bytes:
    columns = {
        f"c{number}": pa.Array.from_buffers(
            pa.int64(), shape.rows, [None, pa.py_buffer(source.randbytes(shape.rows * 8))]
        )
        for number in range(_COLUMNS)
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=shape.row_group, use_dictionary=False)
    return sink.getvalue()
