"""Rows and deletions in the log files of a table: blocks in order, without those rolled back.

`delete_block` encodes deletions, for writers of the metadata table.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fscontract.pipeline.hudi.avro import (
    checked_schema,
    data_schema,
    decode_record,
    decode_value,
)
from fscontract.pipeline.hudi.avro_arrow import arrow_schema, arrow_table
from fscontract.pipeline.hudi.hfile.blocks import expanded_bound
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.log import (
    COMMAND,
    DELETE,
    HFILE,
    INSTANT,
    SCHEMA,
    Log,
    LogBlock,
    rolled_back,
)
from fscontract.pipeline.hudi.schema import DELETE_LIST, NAMESPACE

CORRUPT, AVRO, PARQUET, CDC = 2, 3, 5, 6
#: Keys of a block's header: instants that a log compaction merged into it, and partial updates.
_COMPACTED, _PARTIAL = 4, 7
#: Types of blocks that are not supported.
_OTHERS = {CORRUPT: "corrupt block", HFILE: "HFile data block", CDC: "CDC block"}
#: The version of a block of deletions whose list is Avro, and the versions of Avro data blocks.
_AVRO_DELETIONS, _AVRO_VERSIONS = 3, (2, 3)


@dataclass(frozen=True)
class RowsBlock:
    """Rows that a data block at `where` inserts or updates, as an Arrow table."""

    where: str
    table: Any


@dataclass(frozen=True)
class Deletion:
    """A deleted key, the value of the ordering field, and the name of the value's wrapper.

    The wrapper is None if the deletion counts whatever the row has in that field.
    """

    key: str
    wrapper: str | None = None
    value: Any = None


@dataclass(frozen=True)
class DeletionsBlock:
    """Keys that a delete block at `where` deletes."""

    where: str
    deletions: tuple[Deletion, ...]


def log_records(
    logs: Iterable[Log], shows: Callable[[str], bool]
) -> Iterator[RowsBlock | DeletionsBlock]:
    """Yield the content of blocks of visible instants, in order, that no later block rolls back.

    `shows` returns True for visible instants. Raise MetadataException for blocks that are damaged,
    or not supported; the message names file and offset.
    """
    for log, block in _valid_blocks(logs, shows):
        where = f"{log.path}, block at offset {block.offset}"
        _check_supported(where, block)
        try:
            yield _decoded(where, block)
        except (ValueError, struct.error) as error:
            raise MetadataException(where, f"can't read the log block: {error}") from error


def _valid_blocks(logs: Iterable[Log], shows: Callable[[str], bool]) -> list[tuple[Log, LogBlock]]:
    valid: list[tuple[Log, LogBlock]] = []
    for log in logs:
        if log.torn is not None:
            raise log.torn
        for block in log.blocks:
            if block.type == COMMAND:
                target = rolled_back(log, block)
                valid = [entry for entry in valid if entry[1].header[INSTANT] != target]
            elif INSTANT not in block.header:
                raise MetadataException(log.path, f"log block at {block.offset} has no instant")
            elif shows(block.header[INSTANT]):
                valid.append((log, block))
    return valid


def _check_supported(where: str, block: LogBlock) -> None:
    reason = _OTHERS.get(block.type)
    if block.type not in (DELETE, AVRO, PARQUET, *_OTHERS):
        reason = f"type {block.type} of log block"
    if block.header.get(_PARTIAL, "false").lower() != "false":
        reason = "partial updates"
    if _COMPACTED in block.header:
        reason = "log compaction"
    if reason is not None:
        raise MetadataException(where, f"can't merge the log: unsupported {reason}")


def _decoded(where: str, block: LogBlock) -> RowsBlock | DeletionsBlock:
    if block.type == DELETE:
        return DeletionsBlock(where, tuple(deletions_in(block.content)))
    if block.type == PARQUET:
        return RowsBlock(where, _parquet_rows(block.content))
    if SCHEMA not in block.header:
        raise ValueError("no schema in its header")
    text = block.header[SCHEMA]
    schema = data_schema(text)
    rows = [decode_record(record, schema) for record in _avro_records(block.content)]
    return RowsBlock(where, arrow_table(rows, arrow_schema(text)))


def _avro_records(content: bytes) -> Iterator[bytes]:
    """Yield the encoded records of an Avro data block."""
    version, count = struct.unpack_from(">ii", content)
    if version not in _AVRO_VERSIONS:
        raise ValueError(f"unsupported version {version}; must be 2 or 3")
    position = 8
    for _ in range(count):
        (length,) = struct.unpack_from(">i", content, position)
        position += 4
        if not 0 <= length <= len(content) - position:
            raise ValueError(f"a record of {length} bytes exceeds the block")
        yield content[position : position + length]
        position += length
    if position != len(content):
        raise ValueError(f"{len(content) - position} unexpected bytes at the end")


def _parquet_rows(content: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content), coerce_int96_timestamp_unit="us")
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        size, bound = sum(group.total_byte_size for group in groups), expanded_bound(len(content))
        if size > bound:
            raise ValueError(f"{size} bytes of rows; must be at most {bound}")
        rows = file.read(use_threads=False)  # as in `base_files`
        rows.validate(full=True)  # texts, too, which are decoded later
        return rows
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error


def deletions_in(content: bytes) -> Iterator[Deletion]:
    """Yield the deletions of a delete block; raise ValueError or struct.error."""
    version, length = struct.unpack_from(">ii", content)
    if version != _AVRO_DELETIONS:
        raise ValueError(f"unsupported version {version} of deletions; must be {_AVRO_DELETIONS}")
    if length != len(content) - 8:
        raise ValueError(f"expected {length} bytes of deletions, got {len(content) - 8}")
    text = json.dumps(DELETE_LIST)
    decoded = decode_value(content[8:], checked_schema(text.encode(), text))
    for record in decoded["deleteRecordList"]:
        if record["recordKey"] is None:
            raise ValueError("a deletion without a key")
        yield _deletion(record["recordKey"], record["orderingVal"])


def delete_block(instant: str, schema: str, partition: str, keys: Iterable[str]) -> LogBlock:
    """Return a block that deletes keys of a partition whatever their ordering value is.

    `schema` is that of the partition's records, which Hudi repeats in the header.
    """
    import fastavro

    unordered = (f"{NAMESPACE}.IntWrapper", {"value": 0})
    deletions = [
        {"recordKey": key, "partitionPath": partition, "orderingVal": unordered} for key in keys
    ]
    out = io.BytesIO()
    parsed = fastavro.parse_schema(DELETE_LIST)
    fastavro.schemaless_writer(out, parsed, {"deleteRecordList": deletions})
    content = struct.pack(">ii", _AVRO_DELETIONS, out.tell()) + out.getvalue()
    return LogBlock(DELETE, {INSTANT: instant, SCHEMA: schema}, content)


def _deletion(key: str, ordering: Any) -> Deletion:
    """Return a deletion; 0 as an int is the value of those without an ordering value."""
    if ordering is None:
        return Deletion(key)
    name, fields = ordering
    wrapper = name.rpartition(".")[2]
    if wrapper == "IntWrapper" and fields["value"] == 0:
        return Deletion(key)
    return Deletion(key, wrapper, fields["value"])
