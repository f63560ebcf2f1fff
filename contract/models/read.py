"""InputStream: the operations that read from the stream's position."""

from __future__ import annotations

from fscontract.contract.models.stream_state import ANY, PAST, Failure, Origin
from fscontract.contract.models.transition_table import (
    ILLEGAL,
    INDEX,
    IO,
    NULL,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    also_untouched,
    byte_fits,
    bytes_fit,
    closed,
    describe_bytes,
    is_count,
    is_open,
    may_be_at_end,
    may_have_data,
    span,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.program.outcome import FILL, IO_KINDS, Outcome

#: Stream reads: any interleaving of them delivers the same data.
READS = frozenset({"read_byte", "read_into"})


def noticed(call: Call) -> tuple[str, ...]:
    """Return the clauses of earlier operations that a read at the right position confirms."""
    origin = call.state.origin
    confirmed = (origin.moved, origin.works, origin.data)
    if origin.op in READS and call.op in READS and origin.op != call.op:
        return (*confirmed, "input-stream.same-data")
    return confirmed


def describe_end(call: Call) -> tuple[str, ...]:
    """Return the expected outcome of a stream read at the end."""
    return ("returns -1, the end",)


# InputStream.read() --------------------------------------------------------------------------


def _byte(call: Call, outcome: Outcome) -> Accepted | Failure:
    state, value = call.state, outcome.value
    if outcome.raised or not is_count(value):
        return unexpected(call, "read-byte.value", outcome)
    if value == -1:
        return Failure("read-byte.value", state.origin.moved, "end")
    if state.pos == ANY or not byte_fits(state, state.pos, value):
        known = 0 <= value <= 255
        return wrong_bytes(
            call, "read-byte.value", bytes([value]) if known else b"", by_position=True
        )
    return Accepted(
        state.at(state.pos + 1, Origin("read_byte", "read-byte.advance")), noticed(call)
    )


def _describe_byte(call: Call) -> tuple[str, ...]:
    pos, data = call.state.pos, call.state.versions[-1]
    if 0 <= pos < len(data):
        return (f"returns {data[pos]}, the byte at {pos}",)
    return ("returns a byte of the file",) if data else describe_end(call)


def _byte_end(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    if outcome.raised:
        return unexpected(call, "read-byte.eof", outcome)
    if outcome.value != -1:
        return Failure("read-byte.eof", state.origin.moved, "end")
    return Accepted(state.at(state.pos, Origin("read_byte", "read-byte.eof-state")), noticed(call))


READ_BYTE = Operation(
    refusals=(Refusal("read-byte.closed", closed, IO, cause="close.state"),),
    rows=(
        Row(("read-byte.value",), may_have_data, _byte, _describe_byte),
        Row(("read-byte.eof",), may_be_at_end, _byte_end, describe_end),
    ),
    clauses=("read-byte.advance", "read-byte.eof-state", "input-stream.same-data"),
    moves=True,
)


# InputStream.read(buffer[], offset, length) --------------------------------------------------

_REJECTED = Origin("read_into", "read-into.reject-stays")


def _zero_length(call: Call) -> bool:
    return is_open(call) and bool(call.args[2] == 0)


def _into_nothing(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.raised or outcome.value != 0:
        return unexpected(call, "read-into.zero", outcome)
    if outcome.buffer is not None and not untouched(outcome.buffer, 0, 0):
        return Failure("read-into.rest-untouched", "", "data")
    return Accepted(call.state.at(call.state.pos, Origin("read_into", "read-into.zero")))


def _into(call: Call, outcome: Outcome) -> Accepted | Failure:
    state, (_, offset, length) = call.state, call.args
    count, buffer = outcome.value, outcome.buffer
    if outcome.raised or not is_count(count) or buffer is None:
        return unexpected(call, "read-into.data", outcome)
    if count == -1:
        return Failure("read-into.progress", state.origin.moved, "end")
    if count == 0:
        return Failure("read-into.at-least-one", "", "value")
    if not 0 < count <= min(length, state.longest - max(state.pos, 0)):
        failure = Failure("read-into.count", "", "end")
        return also_untouched(failure, "read-into.rest-untouched", buffer, offset, count)
    data = buffer[offset : offset + count]
    if state.pos == ANY or not bytes_fit(state, state.pos, data):
        if not state.changed and bytes_fit(state, state.pos, data.rstrip(bytes([FILL]))):
            return Failure("read-into.data", "", "data")  # returned a greater count than it wrote
        failure = wrong_bytes(call, "read-into.data", data, by_position=True)
        return also_untouched(failure, "read-into.rest-untouched", buffer, offset, count)
    if not untouched(buffer, offset, count):
        return Failure("read-into.rest-untouched", "", "data")
    after = state.at(state.pos + count, Origin("read_into", "read-into.advance"))
    return Accepted(after, noticed(call))


def _describe_into(call: Call) -> tuple[str, ...]:
    state, length = call.state, call.args[2]
    maximum = min(length, max(state.longest - max(state.pos, 0), 0))
    if state.pos < 0:
        return (f"returns {span(1, maximum)}, and bytes of the file",)
    return (
        f"returns {span(1, maximum)}, the bytes from {state.pos}: {_bytes_here(call, maximum)}",
    )


def _bytes_here(call: Call, count: int) -> str:
    return describe_bytes(call.state, max(call.state.pos, 0), count)


def _into_end(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    if outcome.raised:
        return unexpected(call, "read-into.eof", outcome)
    if outcome.value != -1:
        return Failure("read-into.eof", state.origin.moved, "end")
    if outcome.buffer is not None and not untouched(outcome.buffer, 0, 0):
        return Failure("read-into.rest-untouched", "", "data")
    return Accepted(state.at(state.pos, Origin("read_into", "read-into.eof")), noticed(call))


def _asks(call: Call) -> bool:
    return is_open(call) and bool(call.args[2] != 0)


def _null_zero(call: Call, outcome: Outcome) -> bool:
    return bool(call.args[2] == 0 and outcome.value == 0 and not outcome.raised)


def _no_byte(call: Call, outcome: Outcome) -> bool:
    """Return whether a read asks for no bytes; a closed stream's answer is not specified."""
    return bool(call.args[2] == 0)


READ_INTO = Operation(
    refusals=(
        Refusal("read-into.open", closed, IO, cause="close.state", tolerates=_no_byte),
        Refusal(
            "read-into.null",
            lambda c: c.args[0] is None,
            NULL | ILLEGAL,
            _REJECTED,
            tolerates=_null_zero,
        ),
        Refusal(
            "read-into.len-neg",
            lambda c: c.args[0] is not None and c.args[2] < 0,
            INDEX | ILLEGAL,
            _REJECTED,
        ),
        Refusal(
            "read-into.offset-neg",
            lambda c: c.args[0] is not None and c.args[1] < 0,
            INDEX,
            _REJECTED,
        ),
        Refusal(
            "read-into.offset",
            lambda c: c.args[0] is not None and c.args[1] > c.args[0],
            INDEX,
            _REJECTED,
        ),
        Refusal(
            "read-into.space",
            lambda c: c.args[0] is not None and 0 <= c.args[0] - c.args[1] < c.args[2],
            INDEX,
            _REJECTED,
        ),
    ),
    rows=(
        Row(("read-into.zero",), _zero_length, _into_nothing, lambda c: ("returns 0",)),
        Row(
            (
                "read-into.count",
                "read-into.data",
                "read-into.rest-untouched",
                "read-into.at-least-one",
                "read-into.progress",
            ),
            lambda c: _asks(c) and may_have_data(c),
            _into,
            _describe_into,
        ),
        Row(("read-into.eof",), lambda c: _asks(c) and may_be_at_end(c), _into_end, describe_end),
    ),
    clauses=("read-into.advance", "read-into.reject-stays", "input-stream.same-data"),
    moves=True,
)


# InputStream.skip(n), InputStream.available() ------------------------------------------------


def _bytes_left(call: Call) -> int:
    """Return the greatest number of bytes between the position and the end."""
    pos = call.state.pos
    return 0 if pos == PAST else max(call.state.longest - max(pos, 0), 0)


def _skip(call: Call, outcome: Outcome) -> Accepted | Failure:
    state, count, skipped = call.state, call.args[0], outcome.value
    if outcome.raised or not is_count(skipped):
        return unexpected(call, "skip.advance", outcome)
    if skipped < 0 or skipped > count:
        return Failure("skip.advance", "", "value")
    missed = [("skip.count", skipped > _bytes_left(call))]
    missed.append(("skip.progress", skipped == 0 and state.shortest > state.pos >= 0))
    pos = state.pos + skipped if state.pos >= 0 else state.pos
    after = state.at(pos, Origin("skip", "skip.advance"))
    clauses = tuple(clause for clause, is_missed in missed if is_missed)
    least = int("skip.progress" in clauses)
    return Accepted(after, (), clauses, (f"returns {span(least, min(count, _bytes_left(call)))}",))


def _skip_nothing(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    if outcome.raised or outcome.value != 0:
        return unexpected(call, "skip.zero", outcome)
    return Accepted(state.at(state.pos, Origin("skip", "skip.zero")))


def _skip_back(call: Call, outcome: Outcome) -> Accepted | Failure:
    state = call.state
    if outcome.raised or outcome.value != 0:
        return Accepted(state.at(ANY, Origin("skip", failed=True)), (), ("skip.negative",))
    # That it skips nothing is a SHOULD; the count that it returned must be right.
    return Accepted(state.at(state.pos, Origin("skip", "skip.advance")))


SKIP = Operation(
    refusals=(Refusal("skip.closed", closed, IO, should=True),),
    rows=(
        Row(("skip.zero",), lambda c: c.args[0] == 0, _skip_nothing, lambda c: ("returns 0",)),
        Row(("skip.negative",), lambda c: c.args[0] < 0, _skip_back, lambda c: ("returns 0",)),
        Row(
            ("skip.count", "skip.progress"),
            lambda c: c.args[0] > 0,
            _skip,
            lambda c: (f"returns {span(0, min(c.args[0], _bytes_left(c)))}",),
        ),
    ),
    clauses=("skip.advance", "skip.negative"),
)


def _available(call: Call, outcome: Outcome) -> Accepted | Failure:
    state, estimate = call.state, outcome.value
    if outcome.raised or not is_count(estimate):
        return unexpected(call, "available.bounds", outcome)
    after = state.at(state.pos, Origin("available", "available.stays"))
    remaining = _bytes_left(call)
    if remaining == 0:
        known = Failure("available.eof", state.origin.moved, "value")
        return known if estimate != 0 else Accepted(after, ("available.eof",))
    if not 0 <= estimate <= remaining:
        return Failure("available.bounds", state.origin.moved, "value")
    if estimate == 0 and 0 <= state.pos < state.shortest:
        expected = (f"returns {span(1, remaining)}",)
        return Accepted(after, ("available.bounds",), ("available.positive",), expected)
    return Accepted(after, ("available.bounds", "available.positive"))


def _available_closed(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.raised and outcome.kind not in IO_KINDS:
        return Failure("available.closed", "", "raised")
    return Accepted(call.state)


AVAILABLE = Operation(
    refusals=(
        Refusal(
            "available.closed",
            lambda c: closed(c) and not c.has("supports-available-on-closed-file"),
            IO,
        ),
    ),
    rows=(
        Row((), is_open, _available, lambda c: (f"returns {span(0, _bytes_left(c))}",)),
        Row((), closed, _available_closed, lambda c: ("returns", "raises IO")),
    ),
    clauses=("available.bounds", "available.eof", "available.positive", "available.stays"),
)
