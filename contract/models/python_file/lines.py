"""readline, readlines and iteration."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.contract.models.python_file.common import (
    Verdict,
    after_close,
    here,
    is_bytes,
    left,
    moved,
    says_empty,
)
from fscontract.contract.models.rules import (
    Call,
    Operation,
    Row,
    bytes_fit,
    may_be_at_end,
    may_have_data,
    unexpected,
    wrong_bytes,
)
from fscontract.contract.models.state import ANY, PAST, Failure, State
from fscontract.contract.outcome import Outcome, show_bytes

_NEWLINE = b"\n"


def _line(state: State) -> bytes:
    """The line at the position, in the newest version."""
    data, start = state.versions[-1], max(state.pos, 0)
    end = data.find(_NEWLINE, start)
    return data[start:] if end < 0 else data[start : end + 1]


def _limit(call: Call) -> int | None:
    if call.op != "py_readline" or call.args[0] is None or call.args[0] < 0:
        return None
    return int(call.args[0])


def _line_clause(call: Call) -> str:
    if call.op == "py_next":
        return "pyio.iter.lines"
    if _limit(call) is not None:
        return "pyio.readline.limit"
    return "pyio.readline.line" if _line(call.state).endswith(_NEWLINE) else "pyio.readline.last"


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
    advance = "pyio.iter.lines" if call.op == "py_next" else "pyio.readline.advance"
    return moved(call, len(value), advance)


def _line_end(clause: str, end: bytes | None) -> Callable[[Call, Outcome], Verdict]:
    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.raised:
            return unexpected(call, clause, outcome)
        if outcome.value != end:
            return Failure(clause, call.state.origin.moved, "end")
        return moved(call, 0, clause)

    return accept


def _says_line(call: Call) -> tuple[str, ...]:
    limit = _limit(call)
    line = _line(call.state)
    return (f"returns {show_bytes(line if limit is None else line[:limit])}",)


def _read_no_line(call: Call, outcome: Outcome) -> Verdict:
    if outcome.raised or outcome.value != b"":
        return unexpected(call, "pyio.readline.limit", outcome)
    return moved(call, 0, "pyio.readline.limit")._replace(exercised=())


READLINE = Operation(
    refusals=(after_close("pyio.readline.closed"),),
    rows=(
        Row(("pyio.readline.limit",), lambda c: _limit(c) == 0, _read_no_line, says_empty),
        *(
            Row(
                (clause,),
                lambda c, clause=clause: (  # type: ignore[misc]
                    _limit(c) != 0 and may_have_data(c) and _line_clause(c) == clause
                ),
                _read_line,
                _says_line,
            )
            for clause in ("pyio.readline.limit", "pyio.readline.line", "pyio.readline.last")
        ),
        Row(
            ("pyio.readline.eof",),
            lambda c: _limit(c) != 0 and may_be_at_end(c),
            _line_end("pyio.readline.eof", b""),
            says_empty,
        ),
    ),
    clauses=("pyio.readline.advance",),
    moves=True,
)

NEXT = Operation(
    refusals=(after_close("pyio.iter.closed"),),
    rows=(
        Row(("pyio.iter.lines",), may_have_data, _read_line, _says_line),
        Row(
            ("pyio.iter.end",),
            may_be_at_end,
            _line_end("pyio.iter.end", None),
            lambda c: ("raises StopIteration",),
        ),
    ),
    moves=True,
)


def _read_lines(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    hint = call.args[0] or 0
    clause = "pyio.readlines.hint" if hint > 0 else "pyio.readlines.all"
    if outcome.raised or type(value) is not tuple or not all(map(is_bytes, value)):
        return unexpected(call, clause, outcome)
    data = b"".join(value)
    if state.pos != PAST and not (state.pos != ANY and bytes_fit(state, state.pos, data)):
        return wrong_bytes(call, clause, data, by_position=True)
    if not state.changed and (not _are_lines(value) or not _enough(call, value, data, hint)):
        return Failure(clause, "", "end")
    return moved(call, len(data), "pyio.readlines.advance")


def _are_lines(lines: tuple[bytes, ...]) -> bool:
    return all(line.find(_NEWLINE) == len(line) - 1 for line in lines[:-1]) and (
        not lines or lines[-1].find(_NEWLINE) in (-1, len(lines[-1]) - 1)
    )


def _enough(call: Call, lines: tuple[bytes, ...], data: bytes, hint: int) -> bool:
    rest = left(call.state)
    if len(data) == rest:
        stops_late = hint > 0 and lines and len(data) - len(lines[-1]) > hint
        return not stops_late
    return hint > 0 and len(data) >= hint and len(data) - len(lines[-1]) <= hint


READLINES = Operation(
    refusals=(after_close("pyio.readlines.closed"),),
    rows=(
        Row(
            ("pyio.readlines.all",),
            lambda c: (c.args[0] or 0) <= 0,
            _read_lines,
            lambda c: (f"returns the lines of {here(c)}",),
        ),
        Row(
            ("pyio.readlines.hint",),
            lambda c: (c.args[0] or 0) > 0,
            _read_lines,
            lambda c: (f"returns lines of {here(c)} until there are {c.args[0]} bytes",),
        ),
    ),
    clauses=("pyio.readlines.advance",),
    moves=True,
)
