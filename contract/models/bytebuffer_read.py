"""ByteBufferReadable and ByteBufferPositionedReadable: reads that move the buffer's position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fscontract.contract.models.read import describe_end, noticed
from fscontract.contract.models.stream_state import ANY, Failure, Origin
from fscontract.contract.models.transition_table import (
    EOF,
    IO,
    RUNTIME,
    UNSUPPORTED,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    bytes_fit,
    closed,
    is_count,
    is_open,
    may_be_at_end,
    may_have_data,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.program.outcome import IO_KINDS, Outcome

# ByteBufferReadable.read(buffer) -------------------------------------------------------------


def _no_room(call: Call) -> bool:
    size, start, limit = call.args
    return bool(start == (size if limit is None else limit))


def _broken(*checks: tuple[bool, str]) -> Failure | None:
    """Return the failure for the clauses marked as broken; each clause follows its flag."""
    clause, *also = [clause for is_broken, clause in checks if is_broken] or [""]
    return Failure(clause, "", "value", also=tuple(also)) if clause else None


def _with(failure: Failure, other: Failure | None) -> Failure:
    """Return a failure that breaks the clauses of another one, too."""
    return failure if other is None else failure._replace(also=(other.clause, *other.also))


def _into_buffer(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    if outcome.raised or not is_count(outcome.value[0]):
        return unexpected(call, "bytebuffer.data", outcome)
    size, start, limit = call.args
    limit = size if limit is None else limit
    count, position, limit_after = outcome.value
    if count == -1:
        return Failure("bytebuffer.eof", state.origin.moved, "end")
    if not 0 < count <= min(limit - start, state.longest - max(state.pos, 0)):
        return Failure("bytebuffer.count", "", "end")
    buffer = outcome.buffer or b""
    data = buffer[start : start + count]
    broken = _broken(
        (not untouched(buffer, start, count), "bytebuffer.rest-untouched"),
        (position != start + count, "bytebuffer.position"),
        (limit_after != limit, "bytebuffer.limit"),
    )
    if state.pos == ANY or not bytes_fit(state, state.pos, data):
        return _with(wrong_bytes(call, "bytebuffer.data", data, by_position=True), broken)
    if broken is not None:
        return broken
    return Accepted(
        state.at(state.pos + count, Origin("read_buffer", "bytebuffer.advance")), noticed(call)
    )


def _stream_end(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.raised:
        return unexpected(call, "bytebuffer.eof", outcome)
    if outcome.value[0] != -1:
        return Failure("bytebuffer.eof", call.state.origin.moved, "end")
    if outcome.buffer is not None and not untouched(outcome.buffer, 0, 0):
        return Failure("bytebuffer.rest-untouched", "", "data")
    return Accepted(call.state.at(call.state.pos, Origin("read_buffer", "bytebuffer.eof")))


def _into_no_room(call: Call, outcome: Outcome) -> Accepted | Failure:
    permitted = (0, -1) if may_be_at_end(call) else (0,)
    if outcome.raised or outcome.value[0] not in permitted:
        return unexpected(call, "bytebuffer.zero", outcome)
    return Accepted(call.state.at(call.state.pos, Origin("read_buffer", "bytebuffer.zero")))


def _describe_into_buffer(call: Call) -> tuple[str, ...]:
    if call.state.pos < 0:
        return ("returns 1 or more, and bytes of the file",)
    return (f"returns 1 or more, the bytes from {call.state.pos}",)


READ_BUFFER = Operation(
    refusals=(
        Refusal(
            "bytebuffer.unsupported",
            lambda c: not c.has("supports-bytebuffer-read"),
            UNSUPPORTED - IO,
        ),
        Refusal(
            "bytebuffer.closed", closed, IO, tolerates=lambda c, o: _no_room(c) and not o.raised
        ),
    ),
    rows=(
        Row(("bytebuffer.zero",), _no_room, _into_no_room, lambda c: ("returns 0",)),
        Row(
            (
                "bytebuffer.count",
                "bytebuffer.data",
                "bytebuffer.rest-untouched",
                "bytebuffer.position",
                "bytebuffer.limit",
            ),
            lambda c: not _no_room(c) and may_have_data(c),
            _into_buffer,
            _describe_into_buffer,
        ),
        Row(
            ("bytebuffer.eof",),
            lambda c: not _no_room(c) and may_be_at_end(c),
            _stream_end,
            describe_end,
        ),
    ),
    clauses=("bytebuffer.advance",),
    moves=True,
)


# ByteBufferPositionedReadable ----------------------------------------------------------------


class BufferRequest(NamedTuple):
    """A positioned read: its position, and the buffer's size, position and limit before it."""

    position: int
    size: int
    start: int
    limit: int

    @property
    def remaining(self) -> int:
        """The number of bytes that fit."""
        return self.limit - self.start


def _buffered(call: Call) -> BufferRequest:
    position, size, start, limit = call.args
    return BufferRequest(position, size, start, size if limit is None else limit)


def _buffer_kept(prefix: str, call: Call, outcome: Outcome, count: int) -> Failure | None:
    """Return what is wrong with the buffer after a read put `count` bytes into it, if anything."""
    request = _buffered(call)
    buffer = outcome.buffer or b""
    _, position, limit = outcome.value
    data = buffer[request.start : request.start + count]
    broken = _broken(
        (not untouched(buffer, request.start, count), f"{prefix}.rest-untouched"),
        (position != request.start + count, f"{prefix}.position"),
        (limit != request.limit, f"{prefix}.limit"),
    )
    if not bytes_fit(call.state, request.position, data):
        return _with(Failure(f"{prefix}.data", "", "data"), broken)
    return broken


def _preads_buffer(call: Call, outcome: Outcome) -> Accepted | Failure:
    request = _buffered(call)
    if outcome.raised or not is_count(outcome.value[0]):
        return unexpected(call, "bytebuffer-pread.data", outcome)
    count = outcome.value[0]
    if not 0 < count <= min(request.remaining, call.state.longest - request.position):
        return Failure("bytebuffer-pread.count", "", "end")
    return _buffer_kept("bytebuffer-pread", call, outcome, count) or _buffer_stays(
        "bytebuffer-pread", call
    )


def _reads_buffer_fully(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.raised:
        return unexpected(call, "bytebuffer-read-fully.data", outcome)
    kept = _buffer_kept("bytebuffer-read-fully", call, outcome, _buffered(call).remaining)
    return kept or _buffer_stays("bytebuffer-read-fully", call)


def _buffer_stays(prefix: str, call: Call) -> Accepted:
    clause = f"{prefix}.pos-unchanged"
    return Accepted(call.state.at(call.state.pos, Origin(call.op, clause, clause)))


def _buffer_zero(prefix: str) -> Row:
    def accept(call: Call, outcome: Outcome) -> Accepted | Failure:
        beyond = _buffered(call).position >= call.state.shortest
        if not outcome.raised and outcome.value[0] in (0, None):
            return _buffer_stays(prefix, call)
        if beyond and (outcome.kind in IO_KINDS or (not outcome.raised and outcome.value[0] == -1)):
            return _buffer_stays(prefix, call)
        return unexpected(call, f"{prefix}.zero", outcome)

    return Row(
        (f"{prefix}.zero",),
        lambda c: is_open(c) and _buffered(c).remaining == 0,
        accept,
        lambda c: ("returns, nothing read",),
    )


def _buffer_eof(prefix: str, is_end: Callable[[Outcome], bool], says: str) -> Row:
    def accept(call: Call, outcome: Outcome) -> Accepted | Failure:
        if not is_end(outcome):
            return Failure(f"{prefix}.eof", "", "raised" if outcome.raised else "end")
        if outcome.buffer is not None and not untouched(outcome.buffer, 0, 0):
            return Failure(f"{prefix}.rest-untouched", "", "data")
        return _buffer_stays(prefix, call)

    def applies(call: Call) -> bool:
        request = _buffered(call)
        required = request.remaining if prefix == "bytebuffer-read-fully" else 1
        beyond = request.position + required > call.state.shortest
        return is_open(call) and request.remaining > 0 and beyond

    return Row((f"{prefix}.eof",), applies, accept, lambda c: (says,))


def _buffer_operation(prefix: str, reads: Row, end: Row) -> Operation:
    unmoved = Origin(prefix, f"{prefix}.pos-unchanged", f"{prefix}.pos-unchanged")
    return Operation(
        refusals=(
            Refusal(
                f"{prefix}.unsupported",
                lambda c: closed(c) and not c.has("supports-bytebuffer-pread"),
                UNSUPPORTED,
                unmoved,
            ),
            Refusal(
                f"{prefix}.unsupported",
                lambda c: not c.has("supports-bytebuffer-pread"),
                UNSUPPORTED - IO,
                unmoved,
            ),
            Refusal(
                f"{prefix}.neg-pos",
                lambda c: is_open(c) and c.has("supports-bytebuffer-pread") and c.args[0] < 0,
                IO | RUNTIME,
                unmoved,
                strict=EOF,
            ),
        ),
        rows=(
            _buffer_zero(prefix),
            reads,
            end,
            Row((), closed, lambda c, o: Accepted(c.state), lambda c: ("anything",)),
        ),
        clauses=(f"{prefix}.pos-unchanged",),
    )


def _buffer_row(prefix: str, accept: Any, needs_all: bool) -> Row:
    def applies(call: Call) -> bool:
        request = _buffered(call)
        required = request.remaining if needs_all else 1
        within = request.position + required <= call.state.longest
        return is_open(call) and request.remaining > 0 and within

    parts = ("data", "rest-untouched", "position", "limit", *(() if needs_all else ("count",)))
    return Row(
        tuple(f"{prefix}.{part}" for part in parts),
        applies,
        accept,
        lambda c: (f"returns, the bytes from {c.args[0]} in the buffer",),
    )


PREAD_BUFFER = _buffer_operation(
    "bytebuffer-pread",
    _buffer_row("bytebuffer-pread", _preads_buffer, needs_all=False),
    _buffer_eof(
        "bytebuffer-pread", lambda o: not o.raised and o.value[0] == -1, "returns -1, the end"
    ),
)
READ_FULLY_BUFFER = _buffer_operation(
    "bytebuffer-read-fully",
    _buffer_row("bytebuffer-read-fully", _reads_buffer_fully, needs_all=True),
    _buffer_eof("bytebuffer-read-fully", lambda o: o.kind in IO_KINDS, "raises EOF or IO"),
)
