"""Mutants of positioned reads and readFully, some of which are also mutants of read()."""

from __future__ import annotations

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    NullPointerException,
    PathIOException,
)
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.stream.calls import PREAD, READ_FULLY, READ_INTO, ArrayRead
from fscontract.fakes.mutants.stream.variants import NoPositionedReads

#: The offset of the second of some parts of a file, which is near nothing else.
_PART = 708


@mutant("pread.data", PREAD)
def pread_early_at_part(call: ArrayRead) -> int:
    """A read that begins with a part of the file begins a byte too early."""
    if call.position == _PART:
        call.position -= 1
    return call.proceed()


@mutant("read-fully.neg-pos", READ_FULLY, name="FullyFromEnd")
@mutant("pread.neg-pos", PREAD)
def pread_from_end(call: ArrayRead) -> int:
    """A negative position counts from the end of the file."""
    if call.position < 0:
        call.position = max(call.position + call.stream._size, 0)
    return call.proceed()


@mutant("read-into.len-neg", READ_INTO, name="NegativeIsNothing")
@mutant("read-fully.len-neg", READ_FULLY, name="FullyNegativeIsNothing")
@mutant("pread.len-neg", PREAD)
def pread_negative_is_nothing(call: ArrayRead) -> int:
    """A negative length is treated as 0."""
    call.length = call.length and max(call.length, 0)
    return call.proceed()


@mutant("read-into.offset-neg", READ_INTO, name="OffsetFromEnd")
@mutant("read-fully.off-neg", READ_FULLY, name="FullyOffsetFromEnd")
@mutant("pread.off-neg", PREAD)
def pread_offset_from_end(call: ArrayRead) -> int:
    """A negative offset counts from the buffer's end."""
    if call.buffer is not None and call.offset < 0:
        call.offset += len(call.buffer)
    return call.proceed()


@mutant("read-into.space", READ_INTO, name="LengthIsCut")
@mutant("read-fully.space", READ_FULLY, name="FullyCut")
@mutant("pread.space", PREAD)
def pread_cut(call: ArrayRead) -> int:
    """A length beyond the buffer is truncated."""
    if call.buffer is not None and call.length is not None:
        room = len(call.buffer) - call.offset
        call.length = min(call.length, room) if 0 <= room <= len(call.buffer) else call.length
    return call.proceed()


@mutant("read-into.null", READ_INTO, name="NullIsIO")
@mutant("read-fully.null", READ_FULLY, name="FullyNullIsIO")
def null_is_io(call: ArrayRead) -> int:
    """A missing buffer raises an IOException."""
    if call.buffer is None:
        raise PathIOException(call.stream.path, "the read failed")
    return call.proceed()


@mutant("read-fully.eof", READ_FULLY)
def fully_stops_at_end(call: ArrayRead) -> int:
    """A range beyond the end of the file is filled as far as possible, without an error."""
    try:
        return call.proceed()
    except EOFError:
        if call.position < 0:
            raise
        room = len(call.buffer) - call.offset
        data = call.stream.data[call.position : call.position + room][: call.length]
        call.buffer[call.delivered(len(data))] = data
        return len(data)


@mutant("read-fully.eof", READ_FULLY)
def fully_overruns(call: ArrayRead) -> int:
    """A range that ends beyond the end of the file raises an error that is not an IOException."""
    try:
        return call.proceed()
    except EOFError:
        if call.position < 0:
            raise
        raise NullPointerException("there is no block here") from None


@mutant("read-fully.exact", READ_FULLY)
def fully_once(call: ArrayRead) -> int:
    """Only one short read of the underlying stream is made: half of the range is filled."""
    count = call.proceed()
    if call.length is not None and count > 1:
        half = count // 2
        call.buffer[call.offset + half : call.offset + count] = b"\1" * (count - half)
    return count


@mutant("read-fully.data", READ_FULLY)
def fully_swaps(call: ArrayRead) -> int:
    """The two halves of a range are swapped."""
    count = call.proceed()
    if call.length is not None and count > 1:
        data = bytes(call.buffer[call.delivered(count)])
        call.buffer[call.delivered(count)] = data[count // 2 :] + data[: count // 2]
    return count


@mutant("read-fully.closed", READ_FULLY, name="FullyWhenClosed")
@mutant("pread.closed", PREAD)
def pread_when_closed(call: ArrayRead) -> int:
    """A closed stream still delivers data."""
    closed, call.stream._closed = call.stream._closed, False
    try:
        return call.proceed()
    finally:
        call.stream._closed = closed


@mutant("read-fully.closed", READ_FULLY)
def fully_null_when_closed(call: ArrayRead) -> int:
    """A closed stream raises NullPointerException."""
    if call.stream._closed:
        raise NullPointerException("there is no stream to read")
    return call.proceed()


@mutant("read-fully.whole", READ_FULLY)
def whole_lacks_last(call: ArrayRead) -> int:
    """The form without a length leaves the buffer's last byte unchanged."""
    count = call.proceed()
    if call.length is None and len(call.buffer) > 1:
        call.buffer[-1:] = b"\1"
    return count


@mutant("pread.needs-seek", PREAD.on(NoPositionedReads))
def reads_from_here(call: ArrayRead) -> int:
    """A stream without positioned reads reads from its current position instead."""
    return call.stream.read_into(call.buffer, call.offset, call.length)


@mutant("pread.pos-unchanged", PREAD)
def pread_moves(call: ArrayRead) -> int:
    """pread() moves the stream to the end of the delivered bytes."""
    count = call.proceed()
    if count > 0:
        call.stream._pos = call.position + count
    return count


@mutant("pread.pos-unchanged", READ_FULLY)
def failure_moves(call: ArrayRead) -> int:
    """read_fully() that reaches the end moves the stream there."""
    try:
        return call.proceed()
    except EOFError:
        if call.position >= 0:
            call.stream._pos = call.stream._size
        raise


@mutant("pread.null", PREAD)
def pread_null(call: ArrayRead) -> int:
    """A missing buffer raises the IOException of a failed request."""
    if call.buffer is None and not call.stream._closed:
        raise PathIOException(call.stream.path, "the request failed")
    return call.proceed()


@mutant("read-into.count", READ_INTO, name="CountsOneMore")
@mutant("pread.count", PREAD)
def pread_counts_length(call: ArrayRead) -> int:
    """A read at the end returns the requested length instead of the delivered one."""
    count = call.proceed()
    return count if count <= 0 or call.length is None else call.length


@mutant("pread.full", PREAD)
def pread_half(call: ArrayRead) -> int:
    """A read of several bytes delivers half of them."""
    if call.buffer is not None and call.length is not None:
        several = 1 < call.length <= len(call.buffer) - call.offset
        call.length = call.length // 2 if several else call.length
    return call.proceed()


@mutant("read-into.data", READ_INTO, name="Reverses")
@mutant("pread.data", PREAD)
def pread_reverses(call: ArrayRead) -> int:
    """A read puts the bytes into the buffer in reverse order."""
    count = call.proceed()
    if count > 1:
        call.buffer[call.delivered(count)] = bytes(call.buffer[call.delivered(count)])[::-1]
    return count


@mutant("pread.data", PREAD)
def pread_from_stream(call: ArrayRead) -> int:
    """A read starts at the stream's position instead of the given one."""
    size, here = call.stream._size, call.stream._pos
    if 0 <= call.position < size and here < size:
        call.position = here
    return call.proceed()


@mutant("read-into.rest-untouched", READ_INTO, name="ClearsRest")
@mutant("read-fully.rest-untouched", READ_FULLY, name="FullyClearsRest")
@mutant("pread.rest-untouched", PREAD)
def pread_clears_rest(call: ArrayRead) -> int:
    """A read zeroes the part of the buffer that it did not fill."""
    count = call.proceed()
    if count > 0:
        end = call.offset + count
        call.buffer[end:] = bytes(len(call.buffer) - end)
    return count


@mutant("pread.neg-pos", PREAD)
def pread_negative_when_closed(call: ArrayRead) -> int:
    """A read of a closed stream at a negative position returns -1."""
    if call.stream._closed and call.position < 0:
        return -1
    return call.proceed()


@mutant("read-into.rest-untouched", READ_INTO, name="ReadClearsAtEnd")
@mutant("pread.rest-untouched", PREAD)
def pread_clears_at_end(call: ArrayRead) -> int:
    """A read at the end zeroes the buffer."""
    count = call.proceed()
    if count < 0:
        call.buffer[:] = bytes(len(call.buffer))
    return count


@mutant("read-into.eof", READ_INTO, name="NothingAtEnd")
@mutant("pread.eof", PREAD)
def pread_nothing_at_end(call: ArrayRead) -> int:
    """At the end and beyond a read returns 0."""
    return max(call.proceed(), 0)


@mutant("pread.zero", PREAD)
def pread_needs_length(call: ArrayRead) -> int:
    """A read of length 0 raises IllegalArgumentException."""
    count = call.proceed()
    if call.length == 0:
        raise IllegalArgumentException("there is nothing to read")
    return count


@mutant("pread.zero", PREAD)
def pread_end_for_nothing(call: ArrayRead) -> int:
    """A read of length 0 returns -1, inside the data too."""
    return call.proceed() or -1
