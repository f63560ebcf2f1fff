"""Whether records are those of a file, each from the block that it belongs to.

The acceptor is told the bytes of a file, the blocks it is split into and how records end. It sees
what was delivered of each block, and names the clause that the first odd record breaks. It does
not read blocks: what a record is, is decided on the whole file at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

NO_BLOCK = -1
BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Block:
    """The bytes of a file from `offset` up to `end`; `previous` is the id of the one before."""

    block_id: int
    offset: int
    end: int
    previous: int = NO_BLOCK
    path: str = "/file"
    file_length: int = 0

    @property
    def is_first(self) -> bool:
        """Whether it is the file's first."""
        return self.previous == NO_BLOCK


class Found(NamedTuple):
    """A record: where it starts, its bytes, and where the next one starts."""

    offset: int
    record: bytes
    end: int


class Seen(NamedTuple):
    """A record as it was delivered."""

    block_id: int
    offset: int
    record: bytes


class Broken(NamedTuple):
    """A clause that a record breaks: what would have been accepted, and what was seen."""

    clause: str
    expected: str
    actual: str


@dataclass(frozen=True)
class Layout:
    """A file and how it is read: `context` is read-ahead, line, fixed or fixed-width.

    `delimiter` None stands for line ends; `length` is that of fixed records; records of more than
    `limit` bytes are cut, or left out with `skips`.
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
    """The blocks of a file on a grid from byte 0, the first one cut at `data_offset`."""
    bounds, start = [], data_offset
    while start < length:
        end = min((start // size + 1) * size, length)
        bounds.append((start, end))
        start = end
    return [
        Block(first_id + i, low, high, first_id + i - 1 if i else NO_BLOCK, path, length)
        for i, (low, high) in enumerate(bounds)
    ]


def lines_of(layout: Layout) -> list[Found]:
    """The records of the unsplit file that a delimiter ends, nothing left out of them."""
    data, start = layout.data, layout.data_offset
    pattern = re.compile(re.escape(layout.delimiter)) if layout.delimiter else _LINE_END
    first = None
    if start == 0 and data.startswith(BOM):
        start, first = len(BOM), 0
    found = []
    while start < len(data):
        match = pattern.search(data, start)
        stop, end = match.span() if match else (len(data), len(data))
        found.append(Found(start if first is None else first, data[start:stop], end))
        start, first = end, None
    return found


def expected_of(layout: Layout, block: Block) -> list[Found]:
    """What the block has to deliver, the rest of a line at its start included."""
    if layout.context.startswith("fixed"):
        return list(_pieces(layout, block))
    lines = lines_of(layout)
    if layout.context == "line":
        own = [*_rest(layout, block, lines), *(f for f in lines if _starts_in(f, block))]
    else:
        own = [f for f in lines if _belongs(f, block)]
    return [f for f in (_cut(layout, f) for f in own) if f is not None]


def judge(layout: Layout, blocks: Sequence[Block], seen: Sequence[Seen]) -> Broken | None:
    """The first clause that what was delivered breaks; None if all is as it should be.

    `seen` are the records of `blocks`, in the order in which these were read.
    """
    wanted = [(b, f) for b in blocks for f in expected_of(layout, b)]
    counted = Counter((f.offset, f.record) for _, f in wanted)
    owners: Mapping[tuple[int, bytes], list[int]] = _owners(wanted)
    for record in seen:
        key = (record.offset, record.record)
        if key not in counted:
            return _stranger(layout, wanted, record)
        if counted[key] == 0:
            return Broken("record.none-twice", "each record once", f"{record} again")
        if record.block_id not in owners[key]:
            return Broken("record.owner", f"from block {owners[key][0]}", str(record))
        counted[key] -= 1
    missing = [f for b, f in wanted if counted[f.offset, f.record]]
    if missing:
        return Broken("record.none-lost", str(missing[0]), f"{len(seen)} other records")
    order = [(s.block_id, s.offset) for s in seen]
    if order != [(b.block_id, f.offset) for b, f in wanted]:
        return Broken("record.order", "records in order of their offsets", str(order)[:200])
    return None


def _owners(wanted: Sequence[tuple[Block, Found]]) -> dict[tuple[int, bytes], list[int]]:
    found: dict[tuple[int, bytes], list[int]] = {}
    for block, record in wanted:
        found.setdefault((record.offset, record.record), []).append(block.block_id)
    return found


def _stranger(layout: Layout, wanted: Sequence[tuple[Block, Found]], record: Seen) -> Broken:
    """What is wrong with a record that no block has to deliver."""
    same = [f for _, f in wanted if f.offset == record.offset]
    if same:
        return Broken("record.whole", repr(same[0].record), repr(record.record))
    own = [f for b, f in wanted if b.block_id == record.block_id and f.record == record.record]
    if own:
        return Broken("record.offset", f"offset {own[0].offset}", f"offset {record.offset}")
    if any(f.record == record.record for f in lines_of(layout)):
        return Broken("record.none-twice", "each record once", str(record))
    return Broken("record.whole", "a record of the file", str(record))


def _belongs(found: Found, block: Block) -> bool:
    """Reading ahead: the block holds the byte before the record, or has the first one."""
    if found.offset == block.offset and block.is_first:
        return True
    return block.offset < found.offset <= block.end


def _starts_in(found: Found, block: Block) -> bool:
    return block.offset <= found.offset < block.end


def _rest(layout: Layout, block: Block, lines: Sequence[Found]) -> Iterator[Found]:
    """The rest of a line at the start of a block that is inside of it."""
    for found in lines:
        content = found.end - _delimiter_length(layout, found)
        inside = found.offset < block.offset < found.end
        hidden = found.offset == 0 and block.offset < len(BOM) and layout.data.startswith(BOM)
        if inside and block.offset <= content and not block.is_first and not hidden:
            yield Found(block.offset, layout.data[block.offset : content], found.end)


def _delimiter_length(layout: Layout, found: Found) -> int:
    start = found.offset
    if start == 0 and layout.data_offset == 0 and layout.data.startswith(BOM):
        start = len(BOM)
    return found.end - start - len(found.record)


def _cut(layout: Layout, found: Found) -> Found | None:
    if layout.drop_blank and not found.record:
        return None
    if layout.limit is None or len(found.record) <= layout.limit:
        return found
    return None if layout.skips else found._replace(record=found.record[: layout.limit])


def _pieces(layout: Layout, block: Block) -> Iterator[Found]:
    """Slices of a block, or the fixed-width records that start in it."""
    start, stop, length = block.offset, block.end, layout.length
    if layout.context == "fixed-width":
        start += (layout.data_offset - start) % length
    for offset in range(start, stop, length):
        end = min(offset + length, len(layout.data))
        if layout.context == "fixed":
            end = min(end, block.end)
        yield Found(offset, layout.data[offset:end], end)
