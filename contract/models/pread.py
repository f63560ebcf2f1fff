"""PositionedReadable: reads that do not move the stream's position."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fscontract.contract.models.stream_state import Failure, Origin
from fscontract.contract.models.transition_table import (
    EOF,
    HUGE,
    ILLEGAL,
    INDEX,
    IO,
    NULL,
    RUNTIME,
    UNSUPPORTED,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    also_untouched,
    bytes_fit,
    closed,
    describe_bytes,
    is_count,
    is_open,
    span,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.program.outcome import FILL, IO_KINDS, Kind, Outcome

_UNMOVED = Origin("pread", "pread.pos-unchanged", "pread.pos-unchanged")


class ReadRequest(NamedTuple):
    """The arguments of a positioned read: position, buffer size, offset and length."""

    position: int
    size: int | None
    offset: int
    length: int


def _request(call: Call) -> ReadRequest:
    if call.op == "read_fully_all":
        position, size = call.args
        return ReadRequest(position, size, 0, size or 0)
    return ReadRequest(*call.args)


def _declared(call: Call) -> bool:
    return call.has("supports-positioned-readable")


def _when(test: Callable[[ReadRequest], bool]) -> Callable[[Call], bool]:
    """Return a test of the arguments, which also applies to a stream without positioned reads."""

    def applies(call: Call) -> bool:
        return test(_request(call))

    return applies


def _no_io_needed(call: Call, outcome: Outcome) -> bool:
    """Return whether a call for no bytes returned; a closed stream may answer it."""
    return not outcome.raised and (_request(call).length == 0)


def _needs_no_buffer(call: Call, outcome: Outcome) -> bool:
    """Return whether a read of nothing, or at the end of the file, returned no bytes.

    Where bytes would go is not asked then.
    """
    request = _request(call)
    if outcome.raised or _writes_nothing(outcome) is not None:
        return False
    if request.length == 0:
        return outcome.value in (0, -1, None)
    return outcome.value == -1 and request.position >= call.state.shortest


def _refusals(prefix: str, tested_null: frozenset[Kind]) -> tuple[Refusal, ...]:
    """Return the argument checks that read and readFully share.

    `tested_null` is what Hadoop's own tests permit for a null buffer.
    """
    lost = _UNMOVED
    return (
        Refusal("pread.needs-seek", lambda c: not _declared(c), UNSUPPORTED, lost),
        Refusal(
            f"{prefix}.closed",
            lambda c: _declared(c) and closed(c),
            IO,
            tolerates=_no_io_needed,
            should=True,
        ),
        Refusal(
            f"{prefix}.neg-pos",
            _when(lambda r: r.position < 0),
            IO | RUNTIME,
            lost,
            strict=EOF,
            tested=IO | ILLEGAL | INDEX,
        ),
        Refusal(
            f"{prefix}.null",
            _when(lambda r: r.size is None),
            ILLEGAL | NULL,
            lost,
            tested=tested_null,
        ),
        Refusal(
            f"{prefix}.len-neg",
            _when(lambda r: r.size is not None and r.length < 0),
            ILLEGAL | INDEX,
            lost,
        ),
        Refusal(
            f"{prefix}.off-neg",
            _when(lambda r: r.size is not None and r.offset < 0),
            ILLEGAL | INDEX,
            lost,
            tolerates=_needs_no_buffer,
        ),
        Refusal(
            f"{prefix}.space",
            _when(lambda r: r.size is not None and r.offset >= 0 and r.size - r.offset < r.length),
            INDEX | RUNTIME,
            lost,
            tested=ILLEGAL | INDEX,
        ),
    )


def _stays(call: Call, exercised: tuple[str, ...] = (), missed: tuple[str, ...] = ()) -> Accepted:
    origin = call.state.origin
    confirmed = (*exercised, origin.works) if origin.works else exercised
    return Accepted(call.state.at(call.state.pos, _UNMOVED), confirmed, missed)


# read(position, buffer, offset, length) ------------------------------------------------------


def _reads_nothing(call: Call, outcome: Outcome) -> Accepted | Failure:
    beyond = _request(call).position - call.state.shortest
    if outcome.raised and beyond > 0 and outcome.kind in IO_KINDS:
        return _stays(call)
    if outcome.raised or outcome.value not in ((0, -1) if beyond >= 0 else (0,)):
        return unexpected(call, "pread.zero", outcome)
    return _writes_nothing(outcome) or _stays(call)


def _writes_nothing(outcome: Outcome) -> Failure | None:
    """Return the failure of a read without bytes that changed the buffer, if it did."""
    if outcome.buffer is None or untouched(outcome.buffer, 0, 0):
        return None
    return Failure("pread.rest-untouched", "", "data")


def _reads(call: Call, outcome: Outcome) -> Accepted | Failure:
    request, state = _request(call), call.state
    count, buffer = outcome.value, outcome.buffer
    if outcome.raised or not is_count(count) or buffer is None:
        return unexpected(call, "pread.data", outcome)
    maximum = min(request.length, state.longest - request.position)
    rest = "pread.rest-untouched"
    if not 0 < count <= maximum:
        failure = Failure("pread.count", "", "end")
        return also_untouched(failure, rest, buffer, request.offset, count)
    data = buffer[request.offset : request.offset + count]
    if not bytes_fit(state, request.position, data):
        failure = wrong_bytes(call, "pread.data", data, by_position=False)
        return also_untouched(failure, rest, buffer, request.offset, count)
    if not untouched(buffer, request.offset, count):
        return Failure("pread.rest-untouched", "", "data")
    if count < min(request.length, state.shortest - request.position):
        return _stays(call, (), ("pread.full",))
    return _stays(call, ("pread.full",))


def _at_end(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.kind in IO_KINDS and _request(call).position >= HUGE:
        return _stays(call)
    if outcome.raised or outcome.value != -1:
        return unexpected(call, "pread.eof", outcome)
    return _writes_nothing(outcome) or _stays(call)


def _describe_read(call: Call) -> tuple[str, ...]:
    request = _request(call)
    maximum = min(request.length, call.state.longest - request.position)
    data = describe_bytes(call.state, request.position, maximum)
    fewer = f" (or {span(1, maximum)})" if maximum > 1 else ""
    return (f"returns {maximum}{fewer}, the bytes from {request.position}: {data}",)


def _asks(call: Call) -> bool:
    return is_open(call) and _request(call).length != 0


PREAD = Operation(
    refusals=_refusals("pread", ILLEGAL),
    rows=(
        Row(
            ("pread.zero",),
            lambda c: is_open(c) and _request(c).length == 0,
            _reads_nothing,
            lambda c: ("returns 0",),
        ),
        Row(
            ("pread.count", "pread.data", "pread.rest-untouched"),
            lambda c: _asks(c) and _request(c).position < c.state.longest,
            _reads,
            _describe_read,
        ),
        Row(
            ("pread.eof",),
            lambda c: _asks(c) and _request(c).position >= c.state.shortest,
            _at_end,
            lambda c: ("returns -1, the end",),
        ),
    ),
    clauses=("pread.full", "pread.pos-unchanged"),
)


# readFully(position, buffer, offset, length) and readFully(position, buffer) -----------------


def _fits(call: Call) -> bool:
    request = _request(call)
    return is_open(call) and request.position + request.length <= call.state.longest


def _too_short(call: Call) -> bool:
    request = _request(call)
    return is_open(call) and request.position + request.length > call.state.shortest


def _reads_fully(clause: str) -> Callable[[Call, Outcome], Accepted | Failure]:
    exact = "read-fully.exact" if clause == "read-fully.data" else clause
    rest = "read-fully.rest-untouched" if clause == "read-fully.data" else clause

    def accept(call: Call, outcome: Outcome) -> Accepted | Failure:
        request, buffer = _request(call), outcome.buffer
        if outcome.raised or buffer is None:
            return unexpected(call, clause, outcome)
        end = request.offset + request.length
        data = buffer[request.offset : end]
        if not bytes_fit(call.state, request.position, data):
            got = data.rstrip(bytes([FILL]))
            if got != data and bytes_fit(call.state, request.position, got):
                return Failure(exact, "", "end")
            failure = wrong_bytes(call, clause, data, by_position=False)
            return also_untouched(failure, rest, buffer, request.offset, request.length)
        if not untouched(buffer, request.offset, request.length):
            return Failure(rest, "", "data")
        return _stays(call)

    return accept


def _fails_at_end(call: Call, outcome: Outcome) -> Accepted | Failure:
    if outcome.kind in EOF or (
        outcome.kind in IO_KINDS and not call.has("supports-strict-exceptions")
    ):
        return _stays(call)
    if _request(call).length == 0:
        # An empty read past the end: implementations return or raise, and both are harmless.
        return Failure("read-fully.eof", "", "nothing") if outcome.raised else _stays(call)
    return Failure("read-fully.eof", "", "raised" if outcome.raised else "end")


def _describe_short(call: Call) -> tuple[str, ...]:
    returns = () if _request(call).length else ("returns",)
    return ("raises EOF or IO", *returns)


def _describe_fully(call: Call) -> tuple[str, ...]:
    request = _request(call)
    return (
        f"returns, {describe_bytes(call.state, request.position, request.length)} in the buffer",
    )


def _also_too_short(call: Call) -> bool:
    """Return whether a range past the end breaks another precondition, too.

    Preconditions have no order, so either error may be raised.
    """
    wrong = any(refusal.when(call) for refusal in _FULLY_CHECKS)
    return wrong and _declared(call) and _too_short(call)


_FULLY_CHECKS = _refusals("read-fully", ILLEGAL | NULL)


def _fully(clause: str, own: tuple[str, ...]) -> Operation:
    return Operation(
        refusals=(
            *_FULLY_CHECKS,
            Refusal("read-fully.eof", _also_too_short, IO_KINDS, _UNMOVED, strict=EOF),
        ),
        rows=(
            Row((clause, *own), _fits, _reads_fully(clause), _describe_fully),
            Row(("read-fully.eof",), _too_short, _fails_at_end, _describe_short),
        ),
        clauses=("pread.pos-unchanged",),
    )


READ_FULLY = _fully("read-fully.data", ("read-fully.exact", "read-fully.rest-untouched"))
READ_FULLY_ALL = _fully("read-fully.whole", ())
