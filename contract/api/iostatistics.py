"""I/O statistics by Hadoop's names, and the meters that the cost clauses compute from them.

The constants are those of Hadoop's StreamStatisticNames and StoreStatisticNames that the kit uses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

# Counters of one stream, or of all streams of a filesystem together.
#: Bytes given to the reader.
STREAM_READ_BYTES = "stream_read_bytes"
#: Bytes received from the store, including those that no reader got.
STREAM_READ_TOTAL_BYTES = "stream_read_total_bytes"
#: Descriptors or connections opened for reading, and those closed again.
STREAM_READ_OPENED = "stream_read_opened"
STREAM_READ_CLOSED = "stream_read_closed"
#: Calls of the reader.
STREAM_READ_OPERATIONS = "stream_read_operations"
STREAM_READ_FULLY_OPERATIONS = "stream_read_fully_operations"
STREAM_READ_VECTORED_OPERATIONS = "stream_read_vectored_operations"
STREAM_READ_VECTORED_INCOMING_RANGES = "stream_read_vectored_incoming_ranges"
STREAM_READ_SEEK_OPERATIONS = "stream_read_seek_operations"
STREAM_READ_SEEK_FORWARD_OPERATIONS = "stream_read_seek_forward_operations"
STREAM_READ_SEEK_BACKWARD_OPERATIONS = "stream_read_seek_backward_operations"
STREAM_READ_UNBUFFERED = "stream_read_unbuffered"

# Operations called on a filesystem, and its requests to the store.
OP_OPEN = "op_open"
OP_OPENFILE = "op_openfile"
OP_GET_FILE_STATUS = "op_get_file_status"
OP_EXISTS = "op_exists"
OBJECT_METADATA_REQUESTS = "object_metadata_request"
ACTION_HTTP_HEAD_REQUEST = "action_http_head_request"
ACTION_HTTP_GET_REQUEST = "action_http_get_request"
STORE_IO_REQUEST = "store_io_request"

#: The meters that cost clauses bound: the counters that add to each, and those that subtract.
#: Several counters may count the same thing at several levels (a call, the request behind it);
#: the greatest one is used.
METERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # checks of the file's existence and length
    "probes": (
        (OP_GET_FILE_STATUS, OP_EXISTS, OBJECT_METADATA_REQUESTS, ACTION_HTTP_HEAD_REQUEST),
        (),
    ),
    # descriptors or connections opened, and those still held
    "opens": ((STREAM_READ_OPENED,), ()),
    "held": ((STREAM_READ_OPENED,), (STREAM_READ_CLOSED,)),
    # reads of the store
    "requests": ((STORE_IO_REQUEST, ACTION_HTTP_GET_REQUEST), ()),
    # bytes from the store, and bytes given to the reader
    "bytes": ((STREAM_READ_TOTAL_BYTES,), ()),
    "returned": ((STREAM_READ_BYTES,), ()),
}


#: The starts of the names of counters that a filesystem has for all of its streams together.
OF_STREAMS = ("stream_", STORE_IO_REQUEST)
#: The end of the name of a counter of a stream that its filesystem has, too: that may count the
#: same at once, or add it when the stream is closed.
_OF_STREAM = " of the stream"


def counters_of(filesystem: Mapping[str, int], stream: Mapping[str, int]) -> dict[str, int]:
    """Return the counters of a filesystem without those of all its streams, and of one stream."""
    own = {name: n for name, n in filesystem.items() if not name.startswith(OF_STREAMS)}
    others = {f"{name}{_OF_STREAM}" if name in own else name: n for name, n in stream.items()}
    return own | others


def names_in(meter_of: str, counters: Collection[str]) -> list[str]:
    """Return the names among `counters` that a meter of METERS is computed from."""
    names = (name for group in METERS[meter_of] for name in group)
    return [one for name in names for one in (name, f"{name}{_OF_STREAM}") if one in counters]


def meter(name: str, counters: Mapping[str, int]) -> int | None:
    """Return the value of a meter of METERS; None if no counter that adds to it exists."""
    subtracted = METERS[name][1]
    names = names_in(name, counters)
    reported = [counters[counter] for counter in names if counter not in subtracted]
    if not reported:
        return None
    return max(reported) - sum(counters.get(counter, 0) for counter in subtracted)
