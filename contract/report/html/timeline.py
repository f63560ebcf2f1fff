"""Draw a program: the file as a bar, and the range of each call below it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.program.program import OPERATIONS, Program, Step, resolve_step
from fscontract.contract.runner.result import Counterexample

#: A position, None if unknown.
Position: TypeAlias = int | None


class Movement(NamedTuple):
    """One call: its move of the position, and the bytes that are read, as [start, end).

    `kind` is seek, read (at the stream's position), pread (elsewhere), stay or change.
    """

    kind: str
    before: Position
    after: Position
    spans: tuple[tuple[int, int], ...] = ()


_Act: TypeAlias = Callable[[dict[str, Any], Position, int], Movement]


def movements(steps: Sequence[Step], length: int, streams: int) -> list[Movement]:
    """Return the movement of each step, whose anchors are numbers, on a file of `length` bytes."""
    positions: list[Position] = [0] * streams
    result = []
    for step in steps:
        arguments = dict(zip(OPERATIONS[step.op], step.args, strict=True))
        movement = _ACTS.get(step.op, _stay)(arguments, positions[step.stream], length)
        positions[step.stream] = movement.after
        result.append(movement)
    return result


def _stay(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return Movement("stay", at, at)


def _lost(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    """Return the movement of reading a line, whose end is unknown."""
    return Movement("stay", at, None)


def _change(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return Movement("change", at, at, ((0, length),))


def _reopen(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return Movement("change", at, 0)


def _seek(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return _to(arguments["position"], at, length)


def _skip(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    count = arguments["count"]
    if at is None or count <= 0:
        return Movement("stay", at, at)
    return Movement("seek", at, min(at + count, max(at, length)))


def _py_seek(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    start = {0: 0, 1: at, 2: length}.get(arguments["whence"])
    if start is None:
        return Movement("stay", at, at)
    return _to(start + arguments["offset"], at, length)


def _to(position: int, at: Position, length: int) -> Movement:
    """Return the movement to a position; unchanged if the position is outside the file."""
    return Movement(
        "seek", at, position if 0 <= position <= length else at, ((position, position),)
    )


def _read(count: Callable[[dict[str, Any]], int | None]) -> _Act:
    """Return the act of a read at the position.

    `count` returns its size from the arguments; None reads to the end.
    """

    def act(arguments: dict[str, Any], at: Position, length: int) -> Movement:
        if at is None:
            return Movement("read", at, at)
        size = count(arguments)
        end = max(at, length) if size is None else at + max(0, size)
        return Movement("read", at, max(at, min(end, length)), ((at, end),))

    return act


def _pread(count: Callable[[dict[str, Any]], int]) -> _Act:
    def act(arguments: dict[str, Any], at: Position, length: int) -> Movement:
        start = arguments["position"]
        return Movement("pread", at, at, ((start, start + max(0, count(arguments))),))

    return act


def _vectored(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    ranges = [r for r in arguments["ranges"] or () if r is not None]
    return Movement("pread", at, at, tuple((o, o + max(0, n)) for o, n in ranges))


def _between(arguments: dict[str, Any]) -> int:
    limit = arguments["limit"]
    return 0 if limit is None else int(limit - arguments["start"])


def _length(arguments: dict[str, Any]) -> int:
    return int(arguments["length"])


def _size(arguments: dict[str, Any]) -> int:
    return int(arguments["size"] or 0)


def _py_size(arguments: dict[str, Any]) -> int | None:
    size = arguments["size"]
    return None if size is None or size < 0 else size


_ACTS: dict[str, _Act] = {
    "seek": _seek,
    "seek_to_new_source": _seek,
    "skip": _skip,
    "py_seek": _py_seek,
    "read_byte": _read(lambda arguments: 1),
    "read_into": _read(_length),
    "read_buffer": _read(_between),
    "py_read": _read(_py_size),
    "py_read_default": _read(lambda arguments: None),
    "py_readall": _read(lambda arguments: None),
    "py_read1": _read(_py_size),
    "py_readinto1": _read(_size),
    "py_readinto": _read(_size),
    "pread": _pread(_length),
    "read_fully": _pread(_length),
    "read_fully_all": _pread(_size),
    "pread_buffer": _pread(_between),
    "read_fully_buffer": _pread(_between),
    "read_vectored": _vectored,
    "py_readline": _lost,
    "py_readlines": _lost,
    "py_next": _lost,
    "py_iterate": _lost,
    "change": _change,
    "reopen": _reopen,
}


#: Start and end of the drawing, in percent of its width.
_LEFT, _RIGHT = 6.0, 94.0
#: Distances have a logarithmic scale, limited to this.
_WIDEST = 4.0
#: The maximum of positions with names.
_NAMED = 9
_LARGEST = 2**63 - 1
#: Positions within this distance of the largest number, or of a buffer's end, are named by it.
_NEAR_MAX, _NEAR_BUFFER = 1 << 20, 8


class Tick(NamedTuple):
    """A position on the axis; `x` in percent, `low` for a name in the second line."""

    x: float
    name: str
    low: bool


class Mark(NamedTuple):
    """The range of a call, from `x` to `to`, in percent; backwards if `to` is less."""

    kind: str
    x: float
    to: float

    @property
    def left(self) -> float:
        """Its left end."""
        return min(self.x, self.to)

    @property
    def width(self) -> float:
        """Its width."""
        return abs(self.to - self.x)


class Row(NamedTuple):
    """One call; `at` is the stream's position before it, None if unknown."""

    number: int
    text: str
    marks: tuple[Mark, ...]
    #: Its description, for screen readers.
    description: str
    at: float | None
    offending: bool
    #: Its outcome, "" if unknown.
    outcome: str


class Timeline(NamedTuple):
    """The drawing of a program; `opening` and `faults` are texts, empty for a plain one."""

    ticks: tuple[Tick, ...]
    file: tuple[float, float]
    length: int
    opening: str
    faults: str
    #: True if the program fails before its first call, or as a whole.
    early: bool
    rows: tuple[Row, ...]

    @property
    def plain(self) -> bool:
        """True if the file is opened without a builder, and no request fails."""
        return self.opening.startswith("open(") and not self.faults


def timeline(example: Counterexample, buffer: int) -> Timeline | None:
    """The drawing of a counterexample, None if there is no program; `buffer` is what `buf` is."""
    program = example.program
    if program is None:
        return None
    steps = [resolve_step(step, program.length, buffer) for step in program.steps]
    moves = movements(steps, program.length, program.streams)
    scale = _Scale(_points(moves, program.length), program.length, buffer)
    rows = zip(program.steps, moves, strict=True)
    return Timeline(
        tuple(scale.ticks()),
        (scale.x(0), scale.x(program.length)),
        program.length,
        _opening(program),
        "" if program.faults is None else str(program.faults),
        not 0 < example.step <= len(program.steps),
        tuple(_row(n, step, move, scale, example) for n, (step, move) in enumerate(rows, 1)),
    )


def _call(step: Step) -> str:
    return f"f{step}" if step.stream else f"f.{step}"


def _row(number: int, step: Step, move: Movement, scale: _Scale, example: Counterexample) -> Row:
    marks, at = tuple(_marks(move, scale)), scale.at(move.before)
    outcome = example.outcomes[number - 1] if number <= len(example.outcomes) else ""
    return Row(number, _call(step), marks, _description(move), at, number == example.step, outcome)


def _description(move: Movement) -> str:
    start = "" if move.before is None else f"from position {move.before:,}"
    if move.kind == "seek" and move.spans:
        return f"moves {start} to {move.spans[0][0]:,}"
    if move.kind == "seek":
        return f"moves {start} to {move.after:,}"
    if move.kind == "change":
        return "the file changes" if move.spans else "the path is opened again"
    if not move.spans:
        return start.replace("from", "at")
    spans = ", ".join(f"{first:,} to {end:,}" for first, end in move.spans)
    return f"asks for bytes {spans}"


def _opening(program: Program) -> str:
    if program.opening is not None:
        return program.opening.text(program.length)
    streams = f" x {program.streams}" if program.streams > 1 else ""
    return f"open({program.length} bytes){streams}"


def _points(moves: Iterable[Movement], length: int) -> Iterator[int]:
    yield from (0, length)
    for move in moves:
        yield from (p for p in (move.before, move.after) if p is not None)
        for span in move.spans:
            yield from span


def _marks(move: Movement, scale: _Scale) -> Iterator[Mark]:
    start = scale.at(move.before)
    if move.kind == "seek":
        target = move.spans[0][0] if move.spans else move.after
        if start is not None and target is not None:
            yield Mark("seek", start, scale.x(target))
        return
    for first, end in move.spans:
        yield Mark(move.kind, scale.x(first), scale.x(end))


class _Scale:
    """An axis that separates near positions, and keeps distant ones visible."""

    def __init__(self, points: Iterable[int], length: int, buffer: int) -> None:
        self._points = sorted(set(points))
        self._length, self._buffer = length, buffer
        weights = [_weight(b - a) for a, b in zip(self._points, self._points[1:], strict=False)]
        total = sum(weights) or 1.0
        self._places, x = {}, 0.0
        for point, weight in zip(self._points, [*weights, 0.0], strict=True):
            self._places[point] = round(_LEFT + (_RIGHT - _LEFT) * x / total, 2)
            x += weight

    def x(self, point: int) -> float:
        """Return the place of a position, in percent."""
        return self._places[point]

    def at(self, point: int | None) -> float | None:
        """Return the place of a position that may be unknown."""
        return None if point is None else self._places[point]

    def ticks(self) -> Iterator[Tick]:
        """Yield the positions with names; if there are many, only those around the ends of the
        file.
        """
        named = self._points if len(self._points) <= _NAMED else self._chosen()
        for number, point in enumerate(named):
            yield Tick(self.x(point), self._name(point), number % 2 == 1)

    def _chosen(self) -> Sequence[int]:
        fixed = {0, self._length, self._points[0], self._points[-1]}
        others = [p for p in self._points if p not in fixed]
        step = math.ceil(len(others) / max(1, _NAMED - len(fixed)))
        return sorted(fixed | set(others[::step]))

    def _name(self, point: int) -> str:
        if point == self._length:
            return f"len {point:,}"
        if point > _LARGEST - _NEAR_MAX:
            return _beside("max", point - _LARGEST)
        if self._buffer < self._length and abs(point - self._buffer) <= _NEAR_BUFFER:
            return _beside("buf", point - self._buffer)
        return f"{point:,}"


def _beside(name: str, more: int) -> str:
    return f"{name}{more:+,}" if more else name


def _weight(distance: int) -> float:
    return 1.0 + min(_WIDEST, math.log2(distance) / 4)
