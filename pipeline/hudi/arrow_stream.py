"""Arrow streams from outside: the sizes they declare are checked before a buffer is expanded.

Each buffer of a compressed batch begins with its size uncompressed, which Arrow allocates as it is.
Where the buffers are stands in the batch's metadata, a table of FlatBuffers.
"""

from __future__ import annotations

import struct
from typing import Any

from fscontract.pipeline.hudi.hfile.blocks import expanded_bound

#: Fields of the format's tables, by number: Message, DictionaryBatch, RecordBatch.
_HEADER, _DATA, _BUFFERS, _COMPRESSION = 2, 1, 2, 3
#: Offset and length of a buffer in the body; what a compressed buffer begins with.
_PLACE, _SIZE = struct.Struct("<qq"), struct.Struct("<q")


def read_table(data: bytes, schema: Any, most_rows: int, max_bytes: int) -> Any:
    """Return the table of a stream; ValueError unless it has the columns of `schema`.

    So does one of more than `most_rows` rows or `max_bytes` uncompressed. Arrow's errors are
    raised as they are.
    """
    import pyarrow as pa

    size = 0
    for message in pa.ipc.MessageReader.open_stream(data):
        if message.type in ("record batch", "dictionary"):
            size += _expanded_size(message, message.type == "dictionary")
            if size > min(max_bytes, expanded_bound(len(data))):
                raise ValueError(f"{size} bytes in an Arrow stream of {len(data)}")
    with pa.ipc.open_stream(data) as reader:
        if not reader.schema.equals(schema):
            raise ValueError(f"other columns than {', '.join(schema.names)}")
        batches, rows = [], 0
        for batch in reader:
            rows += batch.num_rows
            if rows > most_rows:
                raise ValueError(f"more than {most_rows} rows")
            batch.validate(full=True)
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema).combine_chunks()


def _expanded_size(message: Any, is_dictionary: bool) -> int:
    """The bytes of a batch's buffers once they are expanded."""
    raw, body = memoryview(message.metadata), memoryview(message.body or b"")
    try:
        table = _field(raw, _number(raw, 0), _HEADER)
        if is_dictionary and table is not None:
            table = _field(raw, table, _DATA)
        if table is None:
            raise ValueError("a batch without a header")
        buffers = _field(raw, table, _BUFFERS)
        if _field(raw, table, _COMPRESSION) is None or buffers is None:
            return len(body)
        places = [
            _PLACE.unpack_from(raw, buffers + 4 + _PLACE.size * number)
            for number in range(min(_number(raw, buffers), len(raw) // _PLACE.size))
        ]
        sizes = (_SIZE.unpack_from(body, offset)[0] for offset, length in places if length)
        return sum(size if size >= 0 else len(body) for size in sizes)  # -1: not compressed
    except struct.error as error:
        raise ValueError("the metadata of a batch is cut off") from error


def _number(raw: memoryview, position: int) -> int:
    return int(struct.unpack_from("<I", raw, position)[0])


def _field(raw: memoryview, table: int, number: int) -> int | None:
    """Where the table or vector is that a field of a table refers to; None without it."""
    fields = table - struct.unpack_from("<i", raw, table)[0]
    if fields < 0:
        raise ValueError("a table of FlatBuffers is damaged")
    size = struct.unpack_from("<H", raw, fields)[0]
    if 6 + 2 * number > size:
        return None
    offset = struct.unpack_from("<H", raw, fields + 4 + 2 * number)[0]
    return table + offset + _number(raw, table + offset) if offset else None
