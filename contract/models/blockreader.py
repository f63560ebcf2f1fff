"""Model of a block reader: judge whether it delivers the records of a file, each from its block.

The model gets the bytes of a file, the blocks it is split into, and the record format. It names the
clause that the first unexpected record breaks. It does not read blocks: it finds the records in the
unsplit file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fscontract.contract.models.violation import Violation, difference_of

#: The clauses that the acceptor judges.
NONE_LOST, NONE_TWICE, OWNER = "record.none-lost", "record.none-twice", "record.owner"
WHOLE, OFFSET, ORDER = "record.whole", "record.offset", "record.order"
CLAUSES = (NONE_LOST, NONE_TWICE, OWNER, WHOLE, OFFSET, ORDER)
NO_BLOCK = -1
BOM = b"\xef\xbb\xbf"
#: A carriage return without a line feed.
_ALONE = re.compile(rb"\r(?!\n)")
#: How records differ that violate a clause.
DIFFERENCES = {NONE_LOST: "less", NONE_TWICE: "more", OWNER: "owner", OFFSET: "offset"}
DIFFERENCES |= {ORDER: "order"}
_LINE_END = re.compile(rb"\r\n|\r|\n")
#: The most offsets of delivered records that a violation shows.
_SHOWN = 20


@dataclass(frozen=True)
class Block:
    """The bytes of a file from `offset` up to `end`; `previous` is the preceding block's id."""

    block_id: int
    offset: int
    end: int
    previous: int = NO_BLOCK
    path: str = "/file"
    file_length: int = 0

    @property
    def is_first(self) -> bool:
        """True for the first block of the file."""
        return self.previous == NO_BLOCK


class Record(NamedTuple):
    """A record: its offset, its bytes, and the offset of the next record."""

    offset: int
    record: bytes
    end: int


class Delivered(NamedTuple):
    """A record as the reader delivered it."""

    block_id: int
    offset: int
    record: bytes


@dataclass(frozen=True)
class Layout:
    """A file and its reader settings: `context` is read-ahead, line, fixed or fixed-width.

    `delimiter` None means line ends; `length` is the length of fixed records in bytes. Records of
    more than `limit` bytes are cut, or left out if `skips` is set.
    """

    data: bytes
    context: str = "read-ahead"
    delimiter: bytes | None = None
    length: int = 0
    data_offset: int = 0
    drop_blank: bool = False
    limit: int | None = None
    skips: bool = False


def split_blocks(
    length: int, size: int, data_offset: int = 0, path: str = "/file", first_id: int = 1
) -> list[Block]:
    """Return the blocks of a file on a grid from byte 0, the first one cut at `data_offset`."""
    bounds, start = [], data_offset
    while start < length:
        end = min((start // size + 1) * size, length)
        bounds.append((start, end))
        start = end
    return [
        Block(first_id + i, low, high, first_id + i - 1 if i else NO_BLOCK, path, length)
        for i, (low, high) in enumerate(bounds)
    ]


@lru_cache(maxsize=16)
def lines_of(layout: Layout) -> list[Record]:
    """Return all records of the unsplit file that end with a delimiter, without filtering."""
    data, start = layout.data, layout.data_offset
    pattern = re.compile(re.escape(layout.delimiter)) if layout.delimiter else _LINE_END
    first = None
    if start == 0 and data.startswith(BOM):
        start, first = len(BOM), 0
    records = []
    while start < len(data):
        match = pattern.search(data, start)
        stop, end = match.span() if match else (len(data), len(data))
        records.append(Record(start if first is None else first, data[start:stop], end))
        start, first = end, None
    return records


def features_of(layout: Layout, blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the features of a file and its blocks on which bugs of readers depend."""
    data, is_fixed = layout.data, layout.context.startswith("fixed")
    lines = [] if is_fixed else lines_of(layout)
    delivered = [expected_of(layout, block) for block in blocks]
    records = [record.record for of_block in delivered for record in of_block]
    yield layout.context
    yield from (f"delimiter {layout.delimiter!r}",) if layout.delimiter else ()
    bounds = {block.offset for block in blocks if not block.is_first}
    starts = {line.offset for line in lines[1:]}
    contents = [(line.offset, line.offset + len(line.record), line.end) for line in lines]
    features = {
        "several blocks": bool(bounds),
        "blocks in another order": any(
            block.previous != before.block_id for before, block in pairwise(blocks)
        ),
        "a block begins with a record": not bounds.isdisjoint(starts),
        "a block begins in a record": any(
            low < at <= high for at in bounds for low, high, _ in contents
        ),
        "a block begins in a delimiter": any(
            high < at < end for at in bounds for _, high, end in contents
        ),
        "a record of several blocks": any(
            sum(low < at < end for at in bounds) > 1 for low, _, end in contents
        ),
        "several records": len(lines) > 1,
        "several records of a block": any(len(of_block) > 1 for of_block in delivered),
        "an empty record": b"" in records,
        "records of a fixed length": is_fixed,
        "a long delimiter": len(layout.delimiter or b"") > 1,
        "no delimiter at the end": any(high == end for _, high, end in contents),
        "a byte order mark": BOM[:2] in data,
        "carriage returns": b"\r" in data,
        "carriage returns and line feeds": b"\r\n" in data,
        "a carriage return alone": _ALONE.search(data) is not None,
        "other bytes than ASCII": not data.isascii(),
        "bytes other than UTF-8": "\ufffd" in data.decode(errors="replace"),
        "control characters": any(byte < 32 and byte not in b"\r\n\t" for byte in set(data)),
        "spaces at the ends of a record": any(one.strip(b" \t") != one for one in records),
        "white space at the ends of a record": any(
            one.strip(b" \t\r\v\f") != one for one in records
        ),
        "a long file": len(data) > 4096,
    }
    yield from (name for name, is_there in features.items() if is_there)


def expected_of(layout: Layout, block: Block) -> list[Record]:
    """Return what the block must deliver, including the rest of a line at its start."""
    if layout.context.startswith("fixed"):
        return list(_pieces(layout, block))
    lines = lines_of(layout)
    if layout.context == "line":
        own = [*_rest(layout, block, lines), *(r for r in lines if _starts_in(r, block))]
    else:
        own = [r for r in lines if _belongs(r, block)]
    return [r for r in (_cut(layout, r) for r in own) if r is not None]


def judge(
    layout: Layout,
    blocks: Sequence[Block],
    delivered: Sequence[Delivered],
    exercised: Counter[str] | None = None,
) -> Violation | None:
    """Return the violation of the first clause that the delivered records break, None if all hold.

    `delivered` are the records of `blocks`, in the order in which these were read. The comparisons
    are added to `exercised`.
    """
    expected = [(b, r) for b in blocks for r in expected_of(layout, b)]
    remaining = Counter((r.offset, r.record) for _, r in expected)
    owners = _owners(expected)
    count: Counter[str] = Counter() if exercised is None else exercised
    if [(d.block_id, d.record) for d in delivered] == [(b.block_id, r.record) for b, r in expected]:
        count.update((OFFSET,))
        for got, (_, right) in zip(delivered, expected, strict=True):
            if got.offset != right.offset:
                return Violation(OFFSET, f"offset {right.offset}", f"offset {got.offset}")
    for record in delivered:
        key = (record.offset, record.record)
        count.update((WHOLE, OFFSET))
        if key not in remaining:
            return _unexpected(layout, expected, record)
        count.update((NONE_TWICE,))
        if remaining[key] == 0:
            return Violation(NONE_TWICE, "each record once", f"{record} again")
        count.update((OWNER,))
        if record.block_id not in owners[key]:
            return Violation(OWNER, f"from block {owners[key][0]}", str(record))
        remaining[key] -= 1
    count.update((NONE_LOST,))
    missing = [r for b, r in expected if remaining[r.offset, r.record]]
    if missing:
        offsets = ", ".join(str(record.offset) for record in delivered[:_SHOWN])
        more = ", ..." if len(delivered) > _SHOWN else ""
        found = f"not delivered; {len(delivered)} records at offsets [{offsets}{more}]"
        return Violation(NONE_LOST, str(missing[0]), found)
    count.update((ORDER,))
    order = [(d.block_id, d.offset) for d in delivered]
    if order != [(b.block_id, r.offset) for b, r in expected]:
        return Violation(ORDER, "records in order of their offsets", str(order)[:200])
    return None


def _owners(expected: Sequence[tuple[Block, Record]]) -> dict[tuple[int, bytes], list[int]]:
    owners: dict[tuple[int, bytes], list[int]] = {}
    for block, record in expected:
        owners.setdefault((record.offset, record.record), []).append(block.block_id)
    return owners


def _unexpected(
    layout: Layout, expected: Sequence[tuple[Block, Record]], record: Delivered
) -> Violation:
    """Return the violation for a record that no block must deliver."""
    same = [r for _, r in expected if r.offset == record.offset]
    if same:
        how = difference_of(record.record, same[0].record)
        return Violation(WHOLE, repr(same[0].record), repr(record.record), difference=how)
    own = [r for b, r in expected if b.block_id == record.block_id and r.record == record.record]
    if own:
        return Violation(OFFSET, f"offset {own[0].offset}", f"offset {record.offset}")
    if any(r.record == record.record for r in lines_of(layout)):
        return Violation(NONE_TWICE, "each record once", str(record))
    return Violation(WHOLE, "a record of the file", str(record))


def _belongs(record: Record, block: Block) -> bool:
    """Return whether a read-ahead block owns the record.

    It does if it holds the byte before the record, or is the first block.
    """
    if record.offset == block.offset and block.is_first:
        return True
    return block.offset < record.offset <= block.end


def _starts_in(record: Record, block: Block) -> bool:
    return block.offset <= record.offset < block.end


def _rest(layout: Layout, block: Block, lines: Sequence[Record]) -> Iterator[Record]:
    """Yield the rest of the line at the start of a block that starts inside of that line."""
    for record in lines:
        content = record.end - _delimiter_length(layout, record)
        inside = record.offset < block.offset < record.end
        hidden = record.offset == 0 and block.offset < len(BOM) and layout.data.startswith(BOM)
        if inside and block.offset <= content and not block.is_first and not hidden:
            yield Record(block.offset, layout.data[block.offset : content], record.end)


def _delimiter_length(layout: Layout, record: Record) -> int:
    start = record.offset
    if start == 0 and layout.data_offset == 0 and layout.data.startswith(BOM):
        start = len(BOM)
    return record.end - start - len(record.record)


def _cut(layout: Layout, record: Record) -> Record | None:
    if layout.drop_blank and not record.record:
        return None
    if layout.limit is None or len(record.record) <= layout.limit:
        return record
    return None if layout.skips else record._replace(record=record.record[: layout.limit])


def _pieces(layout: Layout, block: Block) -> Iterator[Record]:
    """Yield slices of a block, or the fixed-width records that start in it."""
    start, stop, length = block.offset, block.end, layout.length
    if layout.context == "fixed-width":
        start += (layout.data_offset - start) % length
    for offset in range(start, stop, length):
        end = min(offset + length, len(layout.data))
        if layout.context == "fixed":
            end = min(end, block.end)
        yield Record(offset, layout.data[offset:end], end)
