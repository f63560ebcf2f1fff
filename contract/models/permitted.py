"""Return what the model permits for a call: exceptions, values, and bytes of the file.

The model judges outcomes and predicts none. So these functions ask it about each outcome that a
caller could tell from others, and keep those that it permits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.python_read import RETURN_LINES, around
from fscontract.contract.models.stream_state import ANY, Judgement, State
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.program.program import OPERATIONS, Step

#: The kinds of exceptions that a call may raise.
RAISED = tuple(
    kind for kind in Kind if kind not in (Kind.RETURNED, Kind.ENVIRONMENT, Kind.INEXPRESSIBLE)
)
#: Counts of bytes are all tried up to this one; of more, some near the ends.
_MOST_COUNTS = 40
#: A number past every file, which is permitted where any large number is.
FAR = 1 << 60
#: The size in bytes of the items of buffers whose items are larger than a byte.
_ITEM = {"H": 2, "I": 4, "d": 8, "Q": 8, "2d": 2}
#: Operations that return the bytes that they read.
_RETURN_BYTES = frozenset(
    {"py_read", "py_read_default", "py_readall", "py_read1", "py_peek", "py_readline", "py_next"}
)


@dataclass(frozen=True)
class Part:
    """What one range of a vectored read may be: its bytes, exceptions."""

    data: bool
    kinds: frozenset[Kind]


@dataclass(frozen=True)
class Permitted:
    """The permitted outcomes of a call in one state."""

    #: The position of the bytes that it may read; ANY if the stream may be anywhere.
    position: int
    kinds: frozenset[Kind]
    #: Whether it may return any value.
    anything: bool = False
    #: The permitted values that are no bytes of the file: numbers, truth values, None, lines.
    values: tuple[Any, ...] = ()
    #: The fewest and the most bytes of the file from `position`; None if it may read none.
    counts: tuple[int, int] | None = None
    #: The fewest of the numbers that it may return up to the bytes that follow `position`, if each
    #: of them is permitted wherever the stream is.
    rest: int | None = None
    #: What each range of a vectored read may be.
    parts: tuple[Part, ...] = ()
    #: The permitted outcomes as text.
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Window:
    """Where a call places bytes: `room` bytes from `start` of a buffer of `size` bytes."""

    position: int
    size: int
    start: int
    room: int


def window(step: Step, state: State) -> Window | None:
    """Return where a call without anchors places the bytes that it reads; None without buffer."""
    named = dict(zip(OPERATIONS[step.op], step.args, strict=True))
    size = named.get("size")
    if step.op.startswith("py_readinto"):
        room = (size or 0) * _ITEM.get(named["format"], 1)
        return Window(state.pos, room + around(named["format"], size or 0), 0, room)
    if size is None or step.op in _RETURN_BYTES:
        return None
    start = named.get("offset", named.get("start", 0))
    limit = named.get("limit")
    room = named.get("length", (size if limit is None else limit) - start)
    return Window(named.get("position", state.pos), max(size, 0), start, room)


def permitted(step: Step, state: State, features: frozenset[str], missed: str = "") -> Permitted:
    """Return the permitted outcomes of a call without anchors in a state.

    Outcomes that miss the SHOULD of the clause `missed` are not permitted.
    """
    return _Asked(step, state, features, missed).result()


def states_after(
    step: Step, state: State, features: frozenset[str], lax: bool = False
) -> dict[State, set[Any]]:
    """Return the states after each permitted outcome, with the counts of bytes read before them.

    The count of an exception is "raised"; that of another outcome without bytes is None. If the
    call should raise, only the exceptions with which it should are followed, unless `lax`.
    """
    asked = _Asked(step, state, features, "")
    found: dict[State, set[Any]] = {}
    refuses = not lax and any(asked.is_right(Outcome(kind)) for kind in RAISED)
    for count, outcome in asked.candidates():
        judged = asked.judgement(outcome)
        for after in () if refuses and judged.missed else judged.states:
            found.setdefault(after, set()).add("raised" if outcome.raised else count)
    return found


class _Asked:
    """One call in one state, about which the model is asked."""

    def __init__(self, step: Step, state: State, features: frozenset[str], missed: str) -> None:
        self.step, self.state, self.features, self.missed = step, state, features, missed
        self.data = state.versions[-1]
        self.longest = max(state.versions, key=len)
        self.window = window(step, state)
        self.position = self.window.position if self.window else state.pos

    def states(self, outcome: Outcome) -> tuple[State, ...]:
        """Return the states after an outcome; none if it is not permitted."""
        judged = self.judgement(outcome)
        return () if self.missed in judged.missed and self.missed else judged.states

    def judgement(self, outcome: Outcome) -> Judgement:
        """Return the verdict of the model on an outcome."""
        step = self.step
        return judge_all(step.op, step.args, (self.state,), self.features, outcome)

    def is_right(self, outcome: Outcome) -> bool:
        """Return whether the model permits an outcome, and it misses no SHOULD."""
        judged = self.judgement(outcome)
        return bool(judged.states) and not judged.missed

    def permits(self, outcome: Outcome) -> bool:
        """Return whether the model permits an outcome."""
        return bool(self.states(outcome))

    def result(self) -> Permitted:
        """Return what the model permits."""
        return replace(self._result(), says=self._says())

    def _says(self) -> tuple[str, ...]:
        missing = (one for _, one in self.candidates() if self.missed in self.judgement(one).missed)
        for outcome in (*islice(missing, 1), Outcome(Kind.OTHER), self._returned("")):
            judged = self.judgement(outcome)
            said = judged.failure.expected if judged.failure else judged.expected
            if said:
                return said
        return ()

    def _result(self) -> Permitted:
        kinds = frozenset(kind for kind in RAISED if self.permits(Outcome(kind)))
        position = self.position if self.position >= 0 else ANY
        if self.step.op == "read_vectored" and self.step.args[0] is not None:
            if self.permits(self._returned("")):
                return Permitted(position, kinds, anything=True)
            whole = None not in self.step.args[0]
            return Permitted(position, kinds, parts=tuple(self._parts()) if whole else ())
        if self.permits(self._returned("")):  # a value that no call returns
            return Permitted(position, kinds, anything=True)
        values = [v for v in self._values() if self.permits(self._returned(v))]
        if self.step.op == "read_byte":  # the bytes are reads, and the end is not
            values = [value for value in values if value == -1]
        read = [n for n, outcome in self._reads() if self.permits(outcome)]
        counts = (min(read), max(read)) if read else None
        return Permitted(position, kinds, False, _distinct(values), counts)

    def candidates(self) -> Iterator[tuple[int | None, Outcome]]:
        """Yield the outcomes to ask about, with the number of bytes that each read."""
        for kind in RAISED:
            yield None, Outcome(kind)
        if self.step.op == "read_vectored" and self.step.args[0] is not None:
            if None not in self.step.args[0]:
                yield None, returned(tuple(self._right_parts()))
            return
        for value in self._values():
            skips = self.step.op == "skip" and type(value) is int
            yield value if skips else None, self._returned(value)
        yield from self._reads()

    def _returned(self, value: Any) -> Outcome:
        """Return an outcome with this value and a buffer that is as before the call."""
        at = self.window
        if at is None or at.size < 0:
            return returned(value)
        if self.step.op.endswith("_buffer"):
            size, start, limit = self.step.args[-3:]
            value = (value, start, size if limit is None else limit)
        return returned(value, bytes([FILL]) * at.size)

    def _values(self) -> Iterator[Any]:
        yield from right_values(self.step, self.state)
        yield from (None, True, False, -1, b"")
        longest = len(self.longest)
        numbers = {*range(longest + 2)} if longest <= _MOST_COUNTS else set()
        given = [arg for arg in self.step.args if type(arg) is int]
        position = self.state.pos
        for length in {len(self.data), longest}:
            given += [length, length - position]
        for number in (0, position, *given):
            numbers |= {number - 1, number, number + 1}
            if self.step.op == "py_seek":
                numbers |= {self.state.pos + number, len(self.data) + number}
        yield from sorted(number for number in numbers if number >= 0)
        yield FAR
        if self.step.op in RETURN_LINES:
            yield ()
            lines = _lines(self.data[max(self.state.pos, 0) :])
            yield from (tuple(lines[:n]) for n in range(1, min(len(lines), _MOST_COUNTS) + 1))
            if len(lines) > _MOST_COUNTS:
                yield tuple(lines)

    def _reads(self) -> Iterator[tuple[int, Outcome]]:
        """Yield the outcomes of reads of bytes of the file, with their numbers of bytes."""
        position = max(self.position, 0)
        if self.position == ANY or self.position >= 0:
            for content in dict.fromkeys(self.state.versions):
                for count in self._counts(content, position):
                    outcome = self._read(content[position : position + count])
                    if outcome is not None:
                        yield count, outcome

    def _counts(self, content: bytes, position: int) -> Iterable[int]:
        left = len(content) - position
        room = self.window.room if self.window else left
        size = self.step.args[0] if self.step.op in _RETURN_BYTES and self.step.args else None
        most = min(left, room)
        if most <= _MOST_COUNTS:
            return range(1, most + 1)
        near = {1, 2, most // 2, most - 1, most, left}
        if type(size) is int and 0 < size < most:
            near |= {size - 1, size, size + 1}
        if self.step.op in ("py_readline", "py_next"):
            line = content.find(b"\n", position) + 1 - position
            near |= {line} if 0 < line <= most else set()
        return sorted(n for n in near if 0 < n <= most)

    def _read(self, data: bytes) -> Outcome | None:
        """Return the outcome of reading these bytes; None if the call can't read that number."""
        op, count = self.step.op, len(data)
        if op in _RETURN_BYTES:
            return returned(data)
        if op == "read_byte":
            return returned(data[0]) if count == 1 else None
        at = self.window
        if at is None or at.start < 0 or at.start + count > at.size or not at.room:
            return None
        buffer = bytes([FILL]) * at.start + data
        buffer += bytes([FILL]) * (at.size - len(buffer))
        value: Any = count
        if op.startswith("read_fully"):
            value = None
            if count < at.room:
                return None
        if op.endswith("_buffer"):
            size, start, limit = self.step.args[-3:]
            value = (value, start + count, size if limit is None else limit)
        return returned(value, buffer)

    def _right_parts(self) -> list[Outcome]:
        parts = []
        for offset, length in self.step.args[0]:
            data = self.longest[max(offset, 0) :][: max(length, 0)]
            fits = offset >= 0 and len(data) == length
            parts.append(returned(length, data) if fits else Outcome(Kind.EOF))
        return parts

    def _parts(self) -> Iterator[Part]:
        right = self._right_parts()
        for number in range(len(right)):

            def permits(part: Outcome, number: int = number) -> bool:
                return self.permits(returned((*right[:number], part, *right[number + 1 :])))

            data = not right[number].raised and permits(right[number])
            yield Part(data, frozenset(kind for kind in RAISED if permits(Outcome(kind))))


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


def _distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values without repetitions; True and 1 are two."""
    return tuple({(type(value), value): value for value in values}.values())
