"""Plan the script of a program: the files, the calls before the last one, and what that may do."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from fscontract.contract.models.permitted import RAISED, Permitted, permitted, states_after
from fscontract.contract.models.stream_state import ANY, Origin, State, opened
from fscontract.contract.program.content import (
    OF_THREADS,
    SparseContent,
    changed_content,
    content,
    new_content,
)
from fscontract.contract.program.program import Program, Step, resolve_program
from fscontract.contract.script.calls import NoScript
from fscontract.contract.spec.clauses import clauses

#: The most states that are followed, and the most calls of a script.
_MAX_STATES = 200
_MAX_CALLS = 24
#: The most results that a script compares after a call that should have raised.
_MAX_ENDS = 6
#: Why a script that makes its file with another name would show nothing.
UNUSUAL_NAME = "the file has an unusual name"
#: Why failures of checks that look at more than results of calls have no script.
_UNSHOWN = {
    "cost": "requests are counted",
}
#: Clauses whose failure may be that a file can't be opened.
_OF_OPENING = frozenset({"open.state", "open.name", "consistency.opened"})


@dataclass(frozen=True)
class PlannedCall:
    """A call before the last one."""

    step: Step
    #: Whether a right implementation may raise an exception.
    may_raise: bool
    #: Whether it has to: if it returns, a SHOULD is missed, and later results are open.
    must_raise: bool = False
    #: Whether the script counts the bytes that the call reads, because later results depend on it.
    counted: bool = False


@dataclass(frozen=True)
class Plan:
    """A program without anchors, and what its last call may do.

    `last` is None if the failure is that the file can't be opened.
    """

    program: Program
    #: The content when the streams are opened, then after each change (None: deleted).
    contents: tuple[bytes | None, ...]
    calls: tuple[PlannedCall, ...]
    last: Step | None
    #: What the last call may do in each possible state.
    ends: tuple[Permitted, ...]
    #: The position from which the script counts bytes; None if the last one is known.
    base: int | None = None
    #: Whether the stream of the last call is closed.
    is_closed: bool = False
    #: Whether the last call follows an open that is judged with it, or is that open.
    reopens: bool = False
    #: The plan for calls that return where they should raise; None if no call should raise.
    lax: Plan | None = None

    @property
    def versions(self) -> tuple[bytes, ...]:
        """The contents that reads may see, without the same one twice."""
        return tuple(dict.fromkeys(data for data in self.contents if data is not None))


def plan(
    clause: str, program: Program, features: frozenset[str], buffer: int, fixed: bytes | None
) -> Plan:
    """Return the plan of a program whose last call violates a clause; raise NoScript.

    `fixed` is the content of the only file of a target, if there is one.
    """
    _check(clause, program)
    data = file_content(program, fixed)
    resolved = resolve_program(program, len(data), buffer)
    strict = _Walk(clause, resolved, features, data).plan()
    if not any(call.must_raise for call in strict.calls):
        return strict
    with suppress(NoScript):
        return replace(strict, lax=_Walk(clause, resolved, features, data, lax=True).plan())
    return strict


def _check(clause: str, program: Program) -> None:
    kinds = {check.partition(".")[0] for check in clauses()[clause].checks}
    for kind, reason in _UNSHOWN.items():
        if kind in kinds:
            raise NoScript(reason)
    if not program.steps and clause not in _OF_OPENING:
        raise NoScript("the program has no calls")
    check_conditions(program)
    if len(program.steps) > _MAX_CALLS:
        raise NoScript(f"the program has {len(program.steps)} calls, more than {_MAX_CALLS}")
    ops = [step.args[0] if step.op == "change" else step.op for step in program.steps]
    if "delete" in ops and "reopen" in ops[ops.index("delete") : -2]:
        raise NoScript("several calls follow an open of a deleted file")


def check_conditions(program: Program) -> None:
    """Raise NoScript for a program whose requests fail, or whose file is opened in another way."""
    if program.faults is not None:
        raise NoScript("requests have to fail")
    if program.opening is not None:
        raise NoScript("the file is opened by a builder, which only fscontract adds to this API")


def file_content(program: Program, fixed: bytes | None, threads: bool = False) -> bytes:
    """Return the content of the file of a program, or of one that threads share.

    `fixed` is that of the only file of a target, if there is one. Raise NoScript if it is too long.
    """
    if fixed is not None:
        return fixed
    if threads:
        data = content(program.length, OF_THREADS)
    elif any(step.op == "change" for step in program.steps):
        data = new_content(program.length, program)
    else:
        data = content(program.length)
    if isinstance(data, SparseContent):
        raise NoScript(f"the file has {program.length:,} bytes")
    return data


def plan_each(
    steps: tuple[Step, ...], features: frozenset[str], data: bytes
) -> list[tuple[Step, Permitted]]:
    """Return each call of one stream without anchors, and what it may do.

    Raise NoScript if that depends on what the calls before it did.
    """
    walk, planned = _Walk("", Program(len(data), steps), features, data), []
    for step in steps:
        ends = {permitted(step, state, features) for state in walk.states[0]}
        if len(ends) > 1:
            raise NoScript("the calls before the last one have several right results")
        planned.append((step, ends.pop()))
        walk.follow(step)
    return planned


class _Move(Enum):
    """How a call moves its stream, whichever of its permitted outcomes it has."""

    STAYS = "stays"
    #: By the number of bytes that it returns.
    ADVANCES = "advances"
    ELSEWHERE = "elsewhere"


class _Walk:
    """Follows the states in which a right implementation may be."""

    def __init__(
        self,
        clause: str,
        program: Program,
        features: frozenset[str],
        data: bytes,
        lax: bool = False,
    ) -> None:
        self.clause, self.program, self.features, self.lax = clause, program, features, lax
        self.contents: list[bytes | None] = [data]
        self.data = data
        self.states = [{_neutral(opened(data))} for _ in range(program.streams)]
        self.calls: list[PlannedCall] = []
        #: For each call, how it moves the stream, and the positions before it.
        self.moves: list[tuple[_Move, set[int]]] = []

    def plan(self) -> Plan:
        """Return the plan."""
        steps = self.program.steps
        if not steps:
            return Plan(self.program, (self.data,), (), None, ())
        last = steps[-1]
        reopens = "reopen" in [step.op for step in steps[-2:]]
        is_deleted = any(step.op == "change" and step.args[0] == "delete" for step in steps)
        if reopens and (is_deleted or last.op == "reopen"):
            return self._reopening(is_deleted)
        for step in steps[:-1]:
            self.follow(step)
        if last.op == "change":
            raise NoScript("the program does not end with a call")
        states = self.states[last.stream]
        step = replace(last, stream=0)
        ends = {state: permitted(step, state, self.features, self.clause) for state in states}
        alike = [_anywhere(end) for end in sorted(ends.values(), key=lambda end: end.says)]
        if len({replace(end, says=()) for end in alike}) == 1:
            ends = dict.fromkeys(ends, alike[-1])
        positions, base = {state.pos for state in states}, None
        if not self.lax:
            base = self._count(last.stream, positions, set(ends.values()))
        elif len({*ends.values()}) > _MAX_ENDS:
            raise NoScript("the calls before the last one have several right results")
        closed = all(not state.is_open for state in states)
        found = tuple(dict.fromkeys(ends.values()))
        calls = tuple(self.calls)
        return Plan(self.program, tuple(self.contents), calls, last, found, base, closed)

    def _reopening(self, is_deleted: bool) -> Plan:
        """Return the plan of a program that ends with an open after a change, or a call after it.

        If the file was deleted, the open or the call has to raise.
        """
        steps = self.program.steps
        opened = max(index for index, step in enumerate(steps) if step.op == "reopen")
        if any(step.stream for step in steps):
            raise NoScript("several streams are open")
        if is_deleted and opened == len(steps) - 1:
            raise NoScript("the program does not end with a call")
        for step in steps[:opened]:
            self.follow(step)
        last = steps[-1] if is_deleted else None
        says = ("the open or the call raises, as the file was deleted",)
        ends = (Permitted(ANY, frozenset(RAISED), says=says),) if is_deleted else ()
        calls = (*self.calls, PlannedCall(Step("close"), True))
        return Plan(self.program, tuple(self.contents), calls, last, ends, reopens=True)

    def follow(self, step: Step) -> None:
        """Make a call in every state, with each right outcome."""
        states = self.states[step.stream]
        before = {state.pos for state in states}
        self.moves.append((_Move.ELSEWHERE, before))
        if step.op == "change":
            self.calls.append(PlannedCall(step, False))
            self._change(step.args[0])
            return
        if step.op == "reopen":
            self.calls.append(PlannedCall(step, False))
            self.states[step.stream] = {_neutral(opened(self.data))}
            return
        plain, after, raises, returns = replace(step, stream=0), set(), False, False
        stays = advances = True
        for state in states:
            for new, counts in states_after(plain, state, self.features, self.lax).items():
                after.add(_neutral(new))
                raises |= "raised" in counts
                returns |= counts != {"raised"}
                stays &= new.pos == state.pos
                advances &= all(new.pos == state.pos + _number(count) for count in counts)
        self.calls.append(PlannedCall(step, raises, raises and not returns))
        move = _Move.STAYS if stays else _Move.ADVANCES if advances else _Move.ELSEWHERE
        self.moves[-1] = move, before
        if len(after) > _MAX_STATES:
            raise NoScript("the calls before the last one have too many right results")
        self.states[step.stream] = after or {_lost(state) for state in states}

    def _change(self, how: str) -> None:
        new = changed_content(self.data, how)
        self.contents.append(new)
        self.data = self.data if new is None else new
        for states in self.states:
            changed = {
                s._replace(changed=True, versions=s.versions if new is None else (*s.versions, new))
                for s in states
            }
            states.clear()
            states.update(changed)

    def _count(self, stream: int, positions: set[int], ends: Iterable[Permitted]) -> int | None:
        """Count bytes from the last known position if the result of the last call depends on it.

        Return that position.
        """
        if len(positions) == 1 or len(set(ends)) == 1:
            return None
        for index in range(len(self.calls) - 1, -1, -1):
            if self.calls[index].step.stream != stream:
                continue
            move, before = self.moves[index]
            if move is _Move.STAYS:
                continue
            if move is not _Move.ADVANCES or min(positions) < 0:
                break
            self.calls[index] = replace(self.calls[index], counted=True)
            if len(before) == 1:
                return before.pop()
        raise NoScript("the calls before the last one have several right results")


def _anywhere(end: Permitted) -> Permitted:
    """Return what a call may do without its position if that does not matter."""
    reads = end.counts or end.parts or any(isinstance(value, tuple) for value in end.values)
    return end if reads else replace(end, position=ANY)


def _number(count: Any) -> int:
    return count if type(count) is int else 0


def _neutral(state: State) -> State:
    """Return the state without what only the attribution of failures needs."""
    failed = state.origin.failed
    return state._replace(origin=Origin("skip" if state.origin.op == "skip" else "", failed=failed))


def _lost(state: State) -> State:
    return state.at(ANY, Origin("", failed=True))
