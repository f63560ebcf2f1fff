"""Model of the reads of Python's binary files: read, readinto, lines, iteration, read1 and peek.

Only buffered files have read1, readinto1 and peek. A file may return fewer bytes to them than there
are, so only its end says anything about how many.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any, TypeAlias

from fscontract.contract.models.stream_state import ANY, PAST, Failure, Origin, State
from fscontract.contract.models.transition_table import (
    ILLEGAL,
    IO,
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
    span,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.program.outcome import FILL, Kind, Outcome, show_bytes

Verdict: TypeAlias = Accepted | Failure
#: Operations that return several lines.
RETURN_LINES = frozenset({"py_readlines", "py_iterate"})
#: Exceptions with which a file refuses a call: OSError, ValueError, or the one that is both.
REFUSES = IO | ILLEGAL | {Kind.UNSUPPORTED}


def after_close(clause: str, kinds: frozenset[Kind] = ILLEGAL) -> Refusal:
    """Return the refusal of a closed file, which raises ValueError."""
    return Refusal(clause, closed, kinds, cause="close.state")


def moved(call: Call, count: int, clause: str) -> Accepted:
    """Accept a read of `count` bytes, which confirms the operation before it."""
    state = call.state
    pos = state.pos if state.pos in (ANY, PAST) else state.pos + count
    return Accepted(state.at(pos, Origin(call.op, clause, clause)), state.origin[1:4])


def _bytes_left(state: State) -> int:
    """Return the greatest number of bytes between the position and the end."""
    return 0 if state.pos == PAST else max(state.longest - max(state.pos, 0), 0)


def _bytes_here(call: Call, limit: int | None = None) -> str:
    """Return the bytes at the position, as text for a report."""
    state = call.state
    start = max(state.pos, 0)
    end = None if limit is None else start + limit
    return show_bytes(state.versions[-1][start:end] if state.pos != PAST else b"")


def is_bytes(value: Any) -> bool:
    """Return whether a value is of type bytes; bytes-like objects are not."""
    return type(value) is bytes


def describe_empty(call: Call) -> tuple[str, ...]:
    """Return the expected outcome of a read of bytes at the end."""
    return ("returns b''",)


_NEWLINE = b"\n"


def _line(state: State) -> bytes:
    """Return the line at the position, in the newest version."""
    data, start = state.versions[-1], max(state.pos, 0)
    end = data.find(_NEWLINE, start)
    return data[start:] if end < 0 else data[start : end + 1]


def _limit(call: Call) -> int | None:
    if call.op != "py_readline" or call.args[0] is None or call.args[0] < 0:
        return None
    return int(call.args[0])


def _line_clause(call: Call) -> str:
    if call.op == "py_next":
        return "python.iter.lines"
    if _limit(call) is not None:
        return "python.readline.limit"
    return (
        "python.readline.line" if _line(call.state).endswith(_NEWLINE) else "python.readline.last"
    )


def _read_line(call: Call, outcome: Outcome) -> Verdict:
    state, value, clause = call.state, outcome.value, _line_clause(call)
    if outcome.raised or not is_bytes(value):
        return unexpected(call, clause, outcome)
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, clause, value, by_position=True)
    whole, limit = _line(state), _limit(call)
    whole = whole if limit is None else whole[:limit]
    short = not value or (limit is None and value != whole) or len(value) > len(whole)
    if short and not state.changed:
        return Failure(clause, "", "end")
    advance = "python.iter.lines" if call.op == "py_next" else "python.readline.advance"
    return moved(call, len(value), advance)


def _line_end(clause: str, end: object) -> Callable[[Call, Outcome], Verdict]:
    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.raised:
            return unexpected(call, clause, outcome)
        if outcome.value != end:
            return Failure(clause, call.state.origin.moved, "end")
        return moved(call, 0, clause)

    return accept


def _describe_line(call: Call) -> tuple[str, ...]:
    limit = _limit(call)
    line = _line(call.state)
    return (f"returns {show_bytes(line if limit is None else line[:limit])}",)


def _read_no_line(call: Call, outcome: Outcome) -> Verdict:
    if outcome.raised or outcome.value != b"":
        return unexpected(call, "python.readline.limit", outcome)
    return moved(call, 0, "python.readline.limit")._replace(exercised=())


READLINE = Operation(
    refusals=(
        after_close("python.readline.closed")._replace(
            # An empty line needs no read, so io's base class does not check.
            tolerates=lambda c, o: _limit(c) == 0 and o.value == b"",
        ),
    ),
    rows=(
        Row(("python.readline.limit",), lambda c: _limit(c) == 0, _read_no_line, describe_empty),
        *(
            Row(
                (clause,),
                lambda c, clause=clause: (  # type: ignore[misc]
                    _limit(c) != 0 and may_have_data(c) and _line_clause(c) == clause
                ),
                _read_line,
                _describe_line,
            )
            for clause in ("python.readline.limit", "python.readline.line", "python.readline.last")
        ),
        Row(
            ("python.readline.eof",),
            lambda c: _limit(c) != 0 and may_be_at_end(c),
            _line_end("python.readline.eof", b""),
            describe_empty,
        ),
    ),
    clauses=("python.readline.advance",),
    moves=True,
)

NEXT = Operation(
    refusals=(after_close("python.iter.closed"),),
    rows=(
        Row(("python.iter.lines",), may_have_data, _read_line, _describe_line),
        Row(
            ("python.iter.end",),
            may_be_at_end,
            _line_end("python.iter.end", None),
            lambda c: ("raises StopIteration",),
        ),
    ),
    moves=True,
)


def _hint(call: Call) -> int:
    """Return the number of bytes after which a call of readlines() stops, 0 without one."""
    return max(call.args[0] or 0, 0) if call.op == "py_readlines" else 0


def _lines_clause(call: Call) -> str:
    if call.op == "py_iterate":
        return "python.iter.lines"
    return "python.readlines.all" if call.args[0] is None else "python.readlines.hint"


def _read_lines(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    hint, clause = _hint(call), _lines_clause(call)
    if outcome.raised or type(value) is not tuple or not all(map(is_bytes, value)):
        return unexpected(call, clause, outcome)
    data = b"".join(value)
    if state.pos != PAST and not (state.pos != ANY and bytes_fit(state, state.pos, data)):
        return wrong_bytes(call, clause, data, by_position=True)
    if not state.changed and not _are_lines(value):
        return Failure(clause, "", "end")
    if not state.changed and not _enough(call, value, data, hint):
        return Failure("python.iter.end" if call.op == "py_iterate" else clause, "", "end")
    advance = clause if call.op == "py_iterate" else "python.readlines.advance"
    return moved(call, len(data), advance)


def _are_lines(lines: tuple[bytes, ...]) -> bool:
    return lines == tuple(BytesIO(b"".join(lines)))


def _enough(call: Call, lines: tuple[bytes, ...], data: bytes, hint: int) -> bool:
    remaining = _bytes_left(call.state)
    if len(data) == remaining:
        stops_late = hint > 0 and lines and len(data) - len(lines[-1]) > hint
        return not stops_late
    return hint > 0 and len(data) >= hint and len(data) - len(lines[-1]) <= hint


READLINES = Operation(
    refusals=(after_close("python.readlines.closed"),),
    rows=(
        Row(
            ("python.readlines.all",),
            lambda c: c.args[0] is None,
            _read_lines,
            lambda c: (f"returns the lines of {_bytes_here(c)}",),
        ),
        Row(
            ("python.readlines.hint",),
            lambda c: c.args[0] is not None and c.args[0] <= 0,
            _read_lines,
            lambda c: (f"returns the lines of {_bytes_here(c)}",),
        ),
        Row(
            ("python.readlines.hint",),
            lambda c: _hint(c) > 0,
            _read_lines,
            lambda c: (f"returns lines of {_bytes_here(c)} until there are {c.args[0]} bytes",),
        ),
    ),
    clauses=("python.readlines.advance",),
    moves=True,
)

ITERATE = Operation(
    refusals=(after_close("python.iter.closed"),),
    rows=(
        Row(
            ("python.iter.lines", "python.iter.end"),
            may_have_data,
            _read_lines,
            lambda c: (f"returns the lines of {_bytes_here(c)}",),
        ),
        Row(
            ("python.iter.end",),
            may_be_at_end,
            _line_end("python.iter.end", ()),
            lambda c: ("returns no lines",),
        ),
    ),
    moves=True,
)


def _size(call: Call) -> int | None:
    """Return the size that a read asks for; -1 if it has none, as that is the default."""
    size: int | None = call.args[0] if call.args else -1
    return size


def reads_all(call: Call) -> bool:
    """Return whether a read has no limit: its size is negative, None or left out."""
    size = _size(call)
    return size is None or size < 0


def _read_some(call: Call, outcome: Outcome) -> Verdict:
    state, size, value = call.state, call.args[0], outcome.value
    if outcome.raised:
        return unexpected(call, "python.read.data", outcome)
    if not is_bytes(value):
        return Failure("python.read.bytes", "", "value")
    if not value:
        return Failure("python.read.progress", state.origin.moved, "end")
    if len(value) > size:
        return Failure("python.read.count", "", "end")
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, "python.read.data", value, by_position=True)
    accepted = moved(call, len(value), "python.read.advance")
    clauses = (*accepted.exercised, "python.read.progress", "python.read.bytes")
    full = min(size, state.shortest - state.pos)
    if len(value) < full:
        expected = f"returns {full} bytes of {_bytes_here(call, full)}"
        return Accepted(accepted.state, clauses, ("python.read.full",), (expected,))
    return Accepted(accepted.state, (*clauses, "python.read.full"))


def _all_clauses(call: Call) -> tuple[str, str, str]:
    """Return the clauses of the extent, the type and the bytes of a read of all bytes."""
    if call.op == "py_readall":
        return ("python.readall.data",) * 3
    if _size(call) is None:
        # That None is a size at all is a SHOULD; what such a read returns must be right.
        return "python.read.none", "python.read.bytes", "python.read.data"
    return "python.read.all", "python.read.bytes", "python.read.all"


def _read_all(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    clause, of_type, of_bytes = _all_clauses(call)
    if outcome.raised and clause == "python.read.none":
        return Accepted(state.at(ANY, Origin(call.op, failed=True)), (), (clause,))
    if outcome.raised:
        return unexpected(call, clause, outcome)
    if not is_bytes(value):
        return Failure(of_type, "", "value")
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, of_bytes, value, by_position=True)
    if state.pos + len(value) < state.shortest:
        return Failure(clause, "", "end")
    ending = "python.readall.advance" if call.op == "py_readall" else "python.read.advance"
    accepted = moved(call, len(value), ending)
    return Accepted(accepted.state, (*accepted.exercised, clause))


def _read_end(clause: str) -> Callable[[Call, Outcome], Verdict]:
    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.raised:
            return unexpected(call, clause, outcome)
        if outcome.value != b"" or not is_bytes(outcome.value):
            return Failure(clause, call.state.origin.moved, "end")
        return moved(call, 0, clause)

    return accept


def _refuses_none(call: Call, outcome: Outcome) -> Verdict:
    stays = call.state.at(call.state.pos, Origin(call.op))
    if outcome.raised:
        return Accepted(stays, (), ("python.read.none",))
    return _read_end("python.read.eof")(call, outcome)


def _read_nothing(call: Call, outcome: Outcome) -> Verdict:
    if outcome.raised or outcome.value != b"":
        return unexpected(call, "python.read.zero", outcome)
    return moved(call, 0, "python.read.zero")._replace(exercised=())


def _describe_rest(call: Call) -> tuple[str, ...]:
    return (f"returns {_bytes_here(call)}",)


READ = Operation(
    refusals=(
        after_close("python.read.closed")._replace(
            # The order in which the two errors are detected is not specified.
            tolerates=lambda c, o: _size(c) is None and o.raised
        ),
    ),
    rows=(
        Row(("python.read.zero",), lambda c: _size(c) == 0, _read_nothing, describe_empty),
        Row(
            (),
            lambda c: reads_all(c) and may_have_data(c),
            _read_all,
            _describe_rest,
        ),
        Row(
            ("python.read.count", "python.read.data"),
            lambda c: _size(c) != 0 and not reads_all(c) and may_have_data(c),
            _read_some,
            lambda c: (f"returns {span(1, c.args[0])} bytes of {_bytes_here(c, c.args[0])}",),
        ),
        Row(
            (),
            lambda c: _size(c) is None and may_be_at_end(c),
            _refuses_none,
            describe_empty,
        ),
        Row(
            ("python.read.eof",),
            lambda c: _size(c) not in (0, None) and may_be_at_end(c),
            _read_end("python.read.eof"),
            describe_empty,
        ),
    ),
    clauses=(
        "python.read.advance",
        "python.read.all",
        "python.read.bytes",
        "python.read.full",
        "python.read.none",
        "python.read.progress",
    ),
    moves=True,
)

READALL = Operation(
    refusals=(after_close("python.readall.closed"),),
    rows=(
        Row(("python.readall.data",), may_have_data, _read_all, _describe_rest),
        Row(
            ("python.readall.eof",), may_be_at_end, _read_end("python.readall.eof"), describe_empty
        ),
    ),
    clauses=("python.readall.advance",),
    moves=True,
)


#: Size of the items of buffers whose items are larger than a byte, in bytes.
_ITEM = {"H": 2, "I": 4, "d": 8, "Q": 8, "2d": 2}
#: Buffers whose bytes are not next to each other: they may be refused.
_STRIDED = "strided"
_READONLY = "readonly"
_ANY_ERROR = frozenset(Kind) - {Kind.RETURNED, Kind.ENVIRONMENT, Kind.INEXPRESSIBLE}


def room(call: Call) -> int:
    """Return the size of the buffer in bytes."""
    return int(_ITEM.get(call.args[0], 1) * call.args[1])


def around(form: str, size: int) -> int:
    """Return the number of bytes around a buffer of `size` bytes, which an outcome has after it."""
    return {"slice": 6, _STRIDED: size}.get(form, 0)


def _is_kept(call: Call, outcome: Outcome, count: int) -> bool:
    """Return whether the bytes after the first `count` ones are unchanged, and all still exist."""
    buffer = outcome.buffer
    if buffer is None:
        return True
    size = room(call)
    whole = len(buffer) == size + around(call.args[0], size)
    return whole and untouched(buffer, 0, count)


def _rest_changed(call: Call) -> Failure:
    size = room(call) + around(call.args[0], room(call))
    expected = f"a buffer of {size} bytes, as before, and unchanged after the count"
    return Failure("python.readinto.rest-untouched", "", "data", (expected,))


def _into(call: Call, outcome: Outcome) -> Verdict:
    state, count = call.state, outcome.value
    special = call.args[0] != "B"

    def clause(name: str) -> str:
        if call.args[0] == _STRIDED:
            return "python.readinto.strided"
        return "python.readinto.formats" if special else f"python.readinto.{name}"

    if outcome.raised and call.args[0] == _STRIDED:
        return Accepted(state.at(ANY, Origin(call.op, failed=True)), ("python.readinto.strided",))
    if outcome.raised or not is_count(count):
        return unexpected(call, clause("data"), outcome)
    if count == 0:
        return Failure("python.readinto.progress", state.origin.moved, "end")
    if not 0 < count <= min(room(call), _bytes_left(state)):
        return Failure(clause("count"), "", "end")
    buffer = outcome.buffer or b""
    data = buffer[:count]
    if state.pos == ANY or not bytes_fit(state, state.pos, data):
        if bytes([FILL]) in data:  # returned a greater count than it wrote
            return Failure(clause("data"), "", "data")
        failure = wrong_bytes(call, clause("data"), data, by_position=True)
        is_kept = _is_kept(call, outcome, count)
        return failure if is_kept else failure._replace(also=("python.readinto.rest-untouched",))
    if not _is_kept(call, outcome, count):
        return _rest_changed(call)
    accepted = moved(call, count, "python.readinto.advance")
    seen = ("python.readinto.progress", *((clause("data"),) if special else ()))
    clauses = (*accepted.exercised, *seen)
    full = min(room(call), state.shortest - state.pos)
    if count < full:
        expected = f"returns {full}, the bytes {_bytes_here(call, full)}"
        return Accepted(accepted.state, clauses, ("python.readinto.full",), (expected,))
    return Accepted(accepted.state, (*clauses, "python.readinto.full"))


def _into_zero(clause: str) -> Callable[[Call, Outcome], Verdict]:
    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.raised or not is_count(outcome.value):
            return unexpected(call, clause, outcome)
        if outcome.value != 0:
            return Failure(clause, call.state.origin.moved, "end")
        if not _is_kept(call, outcome, 0):
            return _rest_changed(call)
        return moved(call, 0, clause)

    def accept_special(call: Call, outcome: Outcome) -> Verdict:
        # Buffers that no read can fill may be refused before the file looks for its end.
        if outcome.raised and call.args[0] in (_STRIDED, _READONLY):
            return Accepted(call.state.at(ANY, Origin(call.op, failed=True)))
        return accept(call, outcome)

    return accept_special


_UNREAD = "python.readinto.readonly-stays"


def _leaves_alone(call: Call, outcome: Outcome) -> Verdict:
    """Judge a read of at least one byte into a buffer that can't be written."""
    if outcome.kind not in _ANY_ERROR:
        return Failure("python.readinto.readonly", "", "accepted")
    if not _is_kept(call, outcome, 0):
        return Failure("python.readinto.readonly", "", "data")
    return Accepted(call.state.at(call.state.pos, Origin(call.op, _UNREAD, failed=True)))


def _writes(call: Call) -> bool:
    return room(call) > 0 and may_have_data(call)


READINTO = Operation(
    refusals=(
        after_close("python.readinto.closed")._replace(
            # The order in which the file and the buffer are checked is not specified.
            tolerates=lambda c, o: c.args[0] in (_STRIDED, _READONLY) and o.raised
        ),
    ),
    rows=(
        Row(
            ("python.readinto.zero",),
            lambda c: room(c) == 0,
            _into_zero("python.readinto.zero"),
            lambda c: ("returns 0",),
        ),
        Row(
            ("python.readinto.count", "python.readinto.data", "python.readinto.rest-untouched"),
            lambda c: _writes(c) and c.args[0] != _READONLY,
            _into,
            lambda c: (
                f"returns {span(1, min(room(c), _bytes_left(c.state)))}, "
                f"the bytes {_bytes_here(c, room(c))}",
            ),
        ),
        Row(
            ("python.readinto.readonly",),
            lambda c: _writes(c) and c.args[0] == _READONLY,
            _leaves_alone,
            lambda c: ("raises an exception",),
        ),
        Row(
            ("python.readinto.eof",),
            lambda c: room(c) > 0 and may_be_at_end(c),
            _into_zero("python.readinto.eof"),
            lambda c: ("returns 0",),
        ),
    ),
    clauses=(
        "python.readinto.advance",
        "python.readinto.formats",
        "python.readinto.full",
        "python.readinto.progress",
        "python.readinto.strided",
        _UNREAD,
    ),
    moves=True,
)


def _read1(call: Call, outcome: Outcome) -> Verdict:
    state, size, value = call.state, call.args[0], outcome.value
    if outcome.raised or not is_bytes(value):
        return unexpected(call, "python.read1", outcome)
    if len(value) > (_bytes_left(state) if reads_all(call) else size):
        return Failure("python.read1", state.origin.moved, "end")
    if not value:
        if reads_all(call) and 0 <= state.pos < state.shortest:
            return Failure("python.read1.progress", state.origin.moved, "end")
        return Accepted(state.at(state.pos, Origin(call.op, "python.read1")))
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, "python.read1", value, by_position=True)
    accepted = moved(call, len(value), "python.read1")
    progress = ("python.read1.progress",) if reads_all(call) else ()
    return accepted._replace(exercised=(*accepted.exercised, *progress))


READ1 = Operation(
    refusals=(after_close("python.read1.closed"),),
    rows=(
        Row(
            ("python.read1",),
            is_open,
            _read1,
            lambda c: (
                f"returns {'some' if reads_all(c) else f'up to {c.args[0]}'} bytes of "
                f"{_bytes_here(c, None if reads_all(c) else c.args[0])}",
            ),
        ),
    ),
    clauses=("python.read1.progress",),
    moves=True,
)


def _readinto1(call: Call, outcome: Outcome) -> Verdict:
    state, count, buffer = call.state, outcome.value, outcome.buffer or b""
    if outcome.raised or not is_count(count):
        return unexpected(call, "python.readinto1", outcome)
    if not 0 <= count <= min(len(buffer), _bytes_left(state)):
        return Failure("python.readinto1", state.origin.moved, "end")
    data = buffer[:count]
    if count and (state.pos == ANY or not bytes_fit(state, state.pos, data)):
        if bytes([FILL]) in data:  # returned a greater count than it wrote
            return Failure("python.readinto1", "", "data")
        return wrong_bytes(call, "python.readinto1", data, by_position=True)
    if not untouched(buffer, 0, count):
        return Failure("python.readinto1", "", "data")
    return moved(call, count, "python.readinto1")


READINTO1 = Operation(
    refusals=(after_close("python.readinto1.closed"),),
    rows=(
        Row(
            ("python.readinto1",),
            is_open,
            _readinto1,
            lambda c: (f"returns a count, and that many of the bytes {_bytes_here(c, room(c))}",),
        ),
    ),
    moves=True,
)


def _peek(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    if outcome.raised or not isinstance(value, bytes | bytearray | memoryview):
        return unexpected(call, "python.peek", outcome)
    data = bytes(value)
    if len(data) > _bytes_left(state):
        return Failure("python.peek", state.origin.moved, "end")
    if data and (state.pos == ANY or not bytes_fit(state, state.pos, data)):
        return wrong_bytes(call, "python.peek", data, by_position=True)
    confirmed = state.origin[1:4] if data else ()
    return Accepted(state.at(state.pos, Origin(call.op, "python.peek", "python.peek")), confirmed)


PEEK = Operation(
    refusals=(after_close("python.peek.closed"),),
    rows=(
        Row(
            ("python.peek",),
            is_open,
            _peek,
            lambda c: (f"returns any number of the bytes {_bytes_here(c)}",),
        ),
    ),
    moves=True,
)
