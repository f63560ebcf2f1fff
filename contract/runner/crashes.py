"""Programs that hang or crash the process: find the call and the clause that it violates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import ClassVar, Literal, Protocol

from fscontract.contract.binding import TargetError
from fscontract.contract.models.acceptor import about
from fscontract.contract.models.stream_state import ANY, PAST, Origin, State, opened
from fscontract.contract.program.content import content
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM
from fscontract.contract.program.program import (
    CLOSING,
    OF_FILE,
    OF_LINES,
    Program,
    Step,
    resolve_step,
)
from fscontract.contract.program.server_faults import clause_of_server
from fscontract.contract.runner.result import Counterexample

#: Number of hanging programs after which the tasks of a run may differ from one process.
MOST_HANGS = 5
_CLOSE = Step("close")
_LENGTHS = (0, 1, 5)
#: The value of "buf" where only the circumstances of a call matter.
_BUFFER = 64
#: Operations that leave the position unchanged.
STAYING = frozenset({"get_pos", "py_tell", "available", "has_capability", "unbuffer", "py_closed"})
STAYING |= {"pread", "read_fully", "read_fully_all", "pread_buffer", "read_fully_buffer"}
STAYING |= {"read_vectored", "py_readable", "py_seekable", "py_writable"} | OF_FILE
STAYING |= WITHOUT_STREAM.keys()
#: Aspects in the order of preference among the clauses of an operation: those of a result first.
_PROMISES = ("progress", "data", "value", "whole", "no-raise")


class StepIndex(Protocol):
    """A list with one number, or memory for one."""

    def __getitem__(self, index: Literal[0], /) -> int:
        """Return the number."""
        ...

    def __setitem__(self, index: Literal[0], value: int, /) -> None:
        """Set the number."""
        ...


@dataclass
class Journal:
    """The current item of a run; read by the parent after a crash."""

    #: The index of the step; -1 for opening the streams, the number of steps for closing them.
    step_index: StepIndex = field(default_factory=lambda: [0])
    #: The number of completed programs of the phase.
    done: int = 0
    #: How often the watchdog looked at what runs now; 0 while it does not.
    beats: int = 0
    #: How many seconds a call may take before it counts as hanging.
    limit: float = 0.0
    #: Whether another process continues the run if the target of this one is blocked.
    restarts: ClassVar[bool] = False

    def begin(self, item: object) -> None:
        """Record that `item`, a program, schedule or scenario, is about to run; None means none."""


class Blocked(TargetError):
    """Calls that hang keep others from ending that did so before.

    `hangs` are these calls, and `left` how many seconds calls may still hang.
    """

    def __init__(self, text: str, hangs: Sequence[Crash], left: float) -> None:
        super().__init__(text)
        self.hangs, self.left = tuple(hangs), left


@dataclass(frozen=True)
class CurrentScenario:
    """A scenario of a part of a pipeline that runs, and the clause that a crash of it violates.

    `label` is what plays it again: its name and number.
    """

    name: str
    clause: str
    label: str = ""


@dataclass(frozen=True)
class Crash:
    """The cause of the end of an earlier process of the run."""

    clause: str
    counterexample: Counterexample
    #: True if the process had to be killed because it was silent for too long.
    hung: bool = False

    @property
    def program(self) -> Program | None:
        """The program up to the call that ended the process; None if threads did."""
        return self.counterexample.program

    @property
    def op(self) -> str:
        """The operation that ended the process; "open" if that did."""
        program = self.program
        return program.steps[-1].op if program is not None and program.steps else "open"


class LeftOut:
    """The programs to skip, since they would crash the process or hang.

    These are programs with all calls of one that crashed a process, and those that make a call that
    hung, in a state to which the same clauses apply; one whose states depend on results runs up to
    that call. After two crashes in an operation, or if `add` says so, every program with that
    operation is skipped.
    """

    def __init__(self, crashes: Sequence[Crash] = ()) -> None:
        self._parts = [c.program for c in crashes if c.program is not None and not c.hung]
        counts = Counter(c.op for c in crashes if c.program is not None)
        self._operations = {op for op, count in counts.items() if count > 1}
        self._calls: dict[str, set[tuple[str, ...]]] = {}
        #: Whether streams are not closed at the end of a program, since that hangs.
        self.open_streams = False
        #: Lines are read only of files that are shorter than this, in bytes.
        self.lines_below = math.inf
        for crash in crashes:
            if crash.hung and crash.program is not None:
                self.add(crash.program, len(crash.program.steps) - 1, everywhere=False)
                self.open_streams = self.open_streams or crash.op == "close"

    def add_lines(self, length: float) -> None:
        """Leave out the calls that read lines of files of at least `length` bytes."""
        self.lines_below = min(self.lines_below, length)

    def add(
        self, program: Program, index: int, everywhere: bool, state: State | None = None
    ) -> None:
        """Leave out what makes the call at `index`, or uses its operation `everywhere`.

        `state` is that of its stream before the call, if known.
        """
        if index >= len(program.steps):
            self.open_streams = True
        elif everywhere:
            self._operations.add(program.steps[index].op if index >= 0 else "open")
        elif index < 0 or program.opening is not None or program.faults is not None:
            self._parts.append(program.with_steps(program.steps[: index + 1]))
        else:
            step = program.steps[index]
            about = _clauses_about(program, index)
            if state is not None:
                about = _about(program, step, state)
            self._calls.setdefault(step.op, set()).add(about)

    @property
    def operations(self) -> frozenset[str]:
        """The operations of which a call is left out."""
        return frozenset({*self._operations, *self._calls})

    def covers(self, program: Program, index: int) -> bool:
        """Return whether a program is not run, or does not make its call at `index`."""
        return program in self or (self.open_streams and index >= len(program.steps))

    def stops(self, step: Step, length: int, states: Iterable[State]) -> bool:
        """Return whether a call, without anchors, is not made in one of these states of a file."""
        if self._is_long(step, length):
            return True
        calls = self._calls.get(step.op, ())
        return bool(calls) and any(_about_call(step.op, step.args, s) in calls for s in states)

    def __bool__(self) -> bool:
        has_lines = self.lines_below < math.inf
        return has_lines or bool(self._parts or self._calls or self._operations)

    def _is_long(self, step: Step, length: int) -> bool:
        return length >= self.lines_below and step.op in OF_LINES

    def __contains__(self, program: object) -> bool:
        if not isinstance(program, Program):
            return False
        operations = {"open", *(step.op for step in program.steps)}
        if not self.open_streams:
            operations.add("close")
        if operations & self._operations:
            return True
        if any(self._is_long(step, program.length) for step in program.steps[:1]):
            return True
        return any(_contains(program, part) for part in self._parts) or any(
            step.op in self._calls and _about(program, step, state) in self._calls[step.op]
            for step, state in _with_states(program)
        )


def ended(program: Program, index: int, expected: str, actual: str, word: str) -> Counterexample:
    """Return the program that did not complete, cut after the call at `index`."""
    cut = program.with_steps(program.steps[: index + 1])
    if index >= len(program.steps):
        cut = program.with_steps((*program.steps, _CLOSE))
    op = cut.steps[-1].op if cut.steps else "open"
    if program.opening is None and all(step.stream == 0 for step in cut.steps) and cut.steps:
        cut = replace(cut, streams=1)
    return Counterexample(cut, (expected,), actual, step=len(cut.steps), how=f"{op}: {word}")


def clause_of(program: Program, index: int, under_faults: str, selected: frozenset[str]) -> str:
    """Return the clause that a hanging or crashing call violates, by its circumstances.

    It is a clause about the end of the call: preferably one of `selected` that requires a result.
    """
    if program.faults is not None:
        return clause_of_server(program.faults.kinds) or under_faults
    if index < 0:
        return "open.build-future" if program.opening is not None else "open.state"
    named = _clauses_about(program, index)
    named = tuple(c for c in named if c in selected) or named
    promised = (c for ending in _PROMISES for c in named if c.endswith(ending))
    return next(promised, named[0])


def _clauses_about(program: Program, index: int) -> tuple[str, ...]:
    """Return the clauses that say how a call ends, by its arguments and the state of its stream."""
    calls = program if index < len(program.steps) else program.with_steps((*program.steps, _CLOSE))
    step, state = next(islice(_with_states(calls), min(index, len(program.steps)), None))
    return _about(program, step, state)


def _about(program: Program, step: Step, state: State) -> tuple[str, ...]:
    resolved = resolve_step(step, program.length, _BUFFER)
    return _about_call(step.op, resolved.args, state)


_about_call = lru_cache(maxsize=1024)(about)


def _with_states(program: Program) -> Iterator[tuple[Step, State]]:
    """Yield each call with the state before it, as far as the calls determine it."""
    new = opened(content(program.length))
    states: dict[int, State] = {}
    for step in program.steps:
        state = new if step.op == "reopen" else states.get(step.stream, new)
        yield step, state
        states[step.stream] = _after(program, step, state)


def _after(program: Program, step: Step, state: State) -> State:
    if step.op in STAYING:
        return state
    if step.op in CLOSING:
        return state._replace(is_open=False)
    position = ANY
    if step.op == "seek":
        (position,) = resolve_step(step, program.length, _BUFFER).args
        if position < 0:
            return state
    return state.at(position if position <= program.length else PAST, Origin(step.op))


def smaller(program: Program) -> Iterator[Program]:
    """Yield smaller programs whose last call may crash in the same way."""
    *before, last = program.steps
    if before:
        yield replace(program, steps=(replace(last, stream=0),), streams=1)
    for index in range(len(before)):
        yield program.with_steps((*before[:index], *before[index + 1 :], last))
    for length in _LENGTHS:
        if length < program.length:
            yield replace(program, length=length)


def _contains(program: Program, part: Program) -> bool:
    """Return whether a program makes all the calls of another in order, on such streams."""
    if (program.opening, program.faults) != (part.opening, part.faults):
        return False
    if not part.steps:
        return program.length == part.length
    calls = iter((*program.steps, _CLOSE))
    return all(any(step == call for call in calls) for step in part.steps)
