"""The pure acceptor: judge a call's outcome, given the possible states of the stream.

`judge` is the definition. `Acceptor` adds a memory: in a small file few transitions differ, so a
run of millions of calls looks most verdicts up.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from fscontract.contract.models import (
    bytebuffer_read,
    pread,
    python_file,
    read,
    seek,
    vectored_read,
    without_stream,
)
from fscontract.contract.models.stream_state import (
    ANY,
    PAST,
    Failure,
    Judgement,
    Origin,
    State,
    opened,
)
from fscontract.contract.models.transition_table import (
    HUGE,
    Accepted,
    Call,
    Operation,
    Refusal,
)
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome
from fscontract.contract.program.program import Step

TABLES: dict[str, Operation] = {
    "open": seek.OPEN,
    "reopen": seek.OPEN,
    "close": seek.CLOSE,
    "get_pos": seek.GET_POS,
    "seek": seek.SEEK,
    "seek_to_new_source": seek.SEEK_TO_NEW_SOURCE,
    "unbuffer": seek.UNBUFFER,
    "has_capability": seek.HAS_CAPABILITY,
    "read_byte": read.READ_BYTE,
    "read_into": read.READ_INTO,
    "read_buffer": bytebuffer_read.READ_BUFFER,
    "skip": read.SKIP,
    "available": read.AVAILABLE,
    "pread": pread.PREAD,
    "read_fully": pread.READ_FULLY,
    "read_fully_all": pread.READ_FULLY_ALL,
    "pread_buffer": bytebuffer_read.PREAD_BUFFER,
    "read_fully_buffer": bytebuffer_read.READ_FULLY_BUFFER,
    "read_vectored": vectored_read.READ_VECTORED,
    **python_file.TABLES,
    **without_stream.TABLES,
}
_MAX_CANDIDATES = 64
#: The exceptions for a position beyond any possible file.
_REFUSES = IO_KINDS | {Kind.ILLEGAL_ARGUMENT}
#: Outcomes of more bytes are not remembered: they take memory, and don't occur again.
_MAX_REMEMBERED = 1 << 13
#: Node, step and outcome of a call; the value with its type.
_Key: TypeAlias = tuple[int, int, object, type, object, object]
#: The consistency clause for each aspect of a failure after the file changed.
_CHANGED_CLAUSE = {
    "data": "consistency.either",
    "moved": "consistency.either",
    "end": "consistency.length",
}
#: The end of ids of clauses on the bytes of a buffer that a read does not return: they are of no
#: version of the file.
_UNTOUCHED = ".rest-untouched"


def judge(call: Call, outcome: Outcome) -> Judgement:
    """Judge one outcome in one state."""
    table = TABLES[call.op]
    if outcome.kind is Kind.INEXPRESSIBLE:
        return Judgement((call.state,), unsaid=_would_exercise(table, call))
    if call.state.changed and call.state.is_open and outcome.kind in IO_KINDS:
        unknown = call.state.at(ANY, Origin(call.op, "consistency.either", failed=True))
        return Judgement((unknown,), ("consistency.errors",))
    if _is_refused_late(call, outcome):
        return Judgement((call.state,))
    if call.state.pos > call.state.longest and not call.op.startswith("py_"):
        call = _seen_by_stream(call)
    broken = [r for r in table.refusals if r.holds(call, outcome)]
    judgement = (
        _judge_refusal(broken, call, outcome) if broken else _judge_rows(table, call, outcome)
    )
    return _under_change(call.state, judgement) if call.state.changed else judgement


def _is_refused_late(call: Call, outcome: Outcome) -> bool:
    """Return whether a read refuses the position that an earlier seek may have refused.

    No file reaches it, and the system takes no such offset.
    """
    state = call.state
    position = state.origin.before if state.pos in (ANY, PAST) else state.pos
    reads = TABLES[call.op].moves and state.is_open and position >= HUGE
    return reads and outcome.kind in _REFUSES


def _seen_by_stream(call: Call) -> Call:
    """Return the call with an unknown position past the end, unless it is exact.

    A Python file may have been sought past the end where the stream below it may not be. A skip
    past the end is the stream's own: the stream is at the position that skip() reported
    (skip.advance).
    """
    if not call.has("rejects-seek-past-eof") or call.state.origin.op == "skip":
        return call
    return call._replace(state=call.state.at(PAST, call.state.origin))


def _judge_refusal(broken: list[Refusal], call: Call, outcome: Outcome) -> Judgement:
    for refusal in broken:
        if refusal.permits(call, outcome):
            alone = len(broken) == 1 and outcome.raised
            exercised = (refusal.clause, refusal.cause) if alone and refusal.cause else ()
            return Judgement((refusal.after(call),), exercised or (refusal.clause,) * alone)
    first = broken[0]
    if not outcome.raised:
        # A call that returns breaks all of them: a SHOULD does not excuse a MUST. An exception may
        # be that of the SHOULD, with the wrong class: preconditions have no order.
        first = next((refusal for refusal in broken if not refusal.is_should(call)), first)
    expected = tuple(dict.fromkeys(text for r in broken for text in r.says(call)))
    if first.is_should(call):
        # An open stream that accepted what it should have refused may now be at any position.
        lost = call.state.lost(Origin(call.op, failed=True))
        after = lost if call.state.is_open else call.state
        return Judgement((after,), missed=(first.clause,), expected=expected)
    aspect = "raised" if outcome.raised else "accepted"
    return Judgement((), failure=Failure(first.clause, first.cause, aspect, expected))


def _judge_rows(table: Operation, call: Call, outcome: Outcome) -> Judgement:
    failure: Failure | None = None
    expected: tuple[str, ...] = ()
    for row in table.rows:
        if not row.when(call):
            continue
        result = row.accept(call, outcome)
        if isinstance(result, Accepted):
            clauses = [c for c in (*row.clauses, *result.exercised) if c and c not in result.missed]
            unique = tuple(dict.fromkeys(clauses))
            says = (result.expected or row.says(call)) if result.missed else ()
            return Judgement((result.state,), unique, result.missed, expected=says)
        expected += result.expected or row.says(call)
        failure = failure or result
    if failure is None:
        raise AssertionError(f"no row of {call.op} applies to {call}")
    return Judgement((), failure=failure._replace(expected=expected))


def _would_exercise(table: Operation, call: Call) -> tuple[str, ...]:
    broken = [r for r in table.refusals if r.when(call)]
    if broken:
        return tuple(c for r in broken for c in (r.clause, r.origin.moved if r.origin else "") if c)
    return tuple(c for row in table.rows if row.when(call) for c in row.clauses) + table.clauses


#: The features of a stream that seeks, also to positions past its end.
_SEEKS = frozenset({"supports-seek"})


def about(op: str, args: tuple[object, ...], state: State) -> tuple[str, ...]:
    """Return the clauses that say how a call in this state ends, whatever the features.

    They are the preconditions that the call breaks, or else the postconditions that apply."""
    named: dict[str, None] = {}
    for features in (_Everything(), _SEEKS, frozenset[str]()):
        call, table = Call(op, args, state, features), TABLES[op]
        broken = [r.clause for r in table.refusals if r.when(call)]
        applying = [c for row in table.rows if row.when(call) for c in row.clauses]
        named |= dict.fromkeys(broken or applying or table.clauses)
    return tuple(filter(None, named))


@lru_cache(maxsize=1 << 14)
def chargeable(op: str, args: tuple[object, ...], length: int) -> frozenset[str]:
    """Return the clauses that a call on a file of `length` bytes exercises or violates.

    These are all that its table names for some position, features and bytes of the file.
    """
    table = TABLES[op]
    charged = set(table.clauses)
    positions = {*range(min(length, 8)), length // 2, length - 1, length, length + 1, ANY, PAST}
    for data in (bytes(length), b"\n" * length):
        for pos, is_open in itertools.product(positions, (True, False)):
            state = opened(data)._replace(pos=pos, is_open=is_open)
            for features in (_Everything(), frozenset[str]()):
                charged.update(_named(table, Call(op, args, state, features)))
    return frozenset(charged)


def _named(table: Operation, call: Call) -> Iterator[str]:
    """Yield the clauses of the preconditions that a call breaks, and of those that apply."""
    for refusal in table.refusals:
        if refusal.when(call):
            yield from (refusal.clause, refusal.cause)
            yield from (refusal.origin or Origin(""))[1:4]
    for row in table.rows:
        if row.when(call):
            yield from (*row.clauses, *row.others(call))


class _Everything(frozenset[str]):
    """The set of all features."""

    def __contains__(self, name: object) -> bool:
        return True


def _under_change(before: State, judgement: Judgement) -> Judgement:
    """Replace the clauses of a judgement by the consistency clauses that apply after a change.

    An end that a read saw may be the end of one version, so the next read may see the bytes of
    another.
    """
    failure = judgement.failure
    if failure is None:
        exercised = (
            ("consistency.either", "consistency.length", "consistency.errors")
            if judgement.exercised
            else ()
        )
        states = judgement.states
        position = max(before.pos, ANY)
        states += tuple(s.at(position, s.origin) for s in states if s.pos == PAST)
        return judgement._replace(states=states, exercised=exercised, missed=())
    if failure.aspect == "raised":
        return judgement._replace(failure=failure._replace(clause="consistency.errors", cause=""))
    clause = _CHANGED_CLAUSE.get(failure.aspect)
    if clause is None or failure.clause.endswith(_UNTOUCHED):
        return judgement
    return judgement._replace(failure=failure._replace(clause=clause, cause=""))


def candidates(call: Call, outcome: Outcome) -> Sequence[State]:
    """Return the states that a state of unknown position may be, given what a read delivered.

    The likeliest is the first. The result is empty if there are too many to follow.
    """
    state = call.state
    if state.pos not in (ANY, PAST) or not state.is_open or not TABLES[call.op].moves:
        return (state,)
    data = delivered(call, outcome)
    if data is None:
        return (state,)
    if not data:
        return (state.at(PAST, state.origin),)
    if state.pos == PAST:
        return (state,)
    positions: set[int] = set()
    for version in state.versions:
        at = version.find(data)
        while at >= 0 and len(positions) < _MAX_CANDIDATES:
            positions.add(at)
            at = version.find(data, at + 1)
    if len(positions) == _MAX_CANDIDATES:
        return ()
    if not positions:
        return (state,)
    before = state.origin.before
    return [
        state.at(pos, state.origin) for pos in sorted(positions, key=lambda p: (p != before, p))
    ]


def delivered(call: Call, outcome: Outcome) -> bytes | None:
    """Return the bytes that a read delivered, empty at the end.

    Return None if the outcome says nothing about the position.
    """
    value = outcome.value
    if outcome.raised:
        return None
    if call.op == "read_byte" and type(value) is int:
        return bytes([value]) if 0 <= value <= 255 else b""
    if call.op == "read_into" and type(value) is int and call.args[2]:
        start = call.args[1]
        return (outcome.buffer or b"")[start : start + max(value, 0)]
    if call.op == "read_buffer" and type(value) is tuple and value[0]:
        start = call.args[1]
        return (outcome.buffer or b"")[start : start + max(value[0], 0)]
    return python_file.delivered(call, outcome)


def judge_all(
    op: str,
    args: tuple[object, ...],
    states: tuple[State, ...],
    features: frozenset[str],
    outcome: Outcome,
) -> Judgement:
    """Judge an outcome if the stream may be in several states; keep those that permit it."""
    survivors: list[Judgement] = []
    failures: list[Judgement] = []
    for possible in states:
        call = Call(op, args, possible, features)
        narrowed = candidates(call, outcome)
        if not narrowed:  # it is in one of them, but which one is unknown
            survivors.append(Judgement((possible,)))
        for state in narrowed:
            judgement = judge(Call(op, args, state, features), outcome)
            (survivors if judgement.states else failures).append(judgement)
    if not survivors:
        return failures[0]
    after = tuple(dict.fromkeys(s for j in survivors for s in j.states))
    # A SHOULD is missed only if it is missed in every possible state.
    best = min(survivors, key=lambda j: len(j.missed))
    return best._replace(states=after)


def is_large(outcome: Outcome) -> bool:
    """Return whether an outcome has more bytes than a remembered judgement may have."""
    value, buffer = outcome.value, outcome.buffer
    if type(value) is tuple:
        parts = (part.buffer if isinstance(part, Outcome) else part for part in value)
        return any(type(part) is bytes and len(part) > _MAX_REMEMBERED for part in parts)
    delivered = value if type(value) is bytes else buffer
    return delivered is not None and len(delivered) > _MAX_REMEMBERED


class _Unhashable:
    """A value in a key that replaces an unhashable one; never equal to another."""

    def __init__(self, value: object) -> None:
        self.value = value


@dataclass(slots=True)
class Transition:
    """A remembered judgement: the next node (-1 after a failure) and how often it occurred."""

    target: int
    judgement: Judgement
    count: int = 0


class Acceptor:
    """Follow streams through programs on files of given content, under given features.

    A node is the number of a set of possible states. `counts` tells how often each clause was
    exercised, by all programs so far.
    """

    def __init__(self, features: frozenset[str]) -> None:
        self.features = features
        self._nodes: dict[tuple[State, ...], int] = {}
        self._states: list[tuple[State, ...]] = []
        self._steps: dict[Step, int] = {}
        self._memo: dict[_Key, Transition] = {}
        self._counts: Counter[str] = Counter()
        #: The clauses that calls have exercised so far.
        self.reached: set[str] = set()

    def start(self, *contents: bytes) -> int:
        """Return the node of a stream just opened on this content, or on any of several."""
        return self._node(tuple(opened(data) for data in contents))

    def change(self, node: int, data: bytes | None) -> int:
        """Return the node after the file got this content, or was deleted (None)."""
        return self._node(
            tuple(
                s._replace(
                    changed=True, versions=s.versions if data is None else (*s.versions, data)
                )
                for s in self._states[node]
            )
        )

    def resume(self, node: int, op: str) -> int:
        """Return the node after an outcome of `op` that no state permits: any position."""
        origin = Origin(op, failed=True)
        return self._node(
            tuple(
                dict.fromkeys(
                    s._replace(is_open=False) if op == "close" else s.at(ANY, origin)
                    for s in self._states[node]
                )
            )
        )

    def after_misreported_seek(self, node: int, step: Step, outcome: Outcome) -> int | None:
        """Return the node after a seek of a Python file that did not return the position.

        No state permits that, but the stream should be where the seek moves it. None for other
        steps, and if that is unknown.
        """
        if step.op != "py_seek" or outcome.raised:
            return None
        calls = (Call(step.op, step.args, state, self.features) for state in self._states[node])
        moved = (python_file.after_misreported_seek(call, outcome.value) for call in calls)
        states = tuple(dict.fromkeys(itertools.chain.from_iterable(moved)))
        return self._node(states) if states else None

    def states(self, node: int) -> tuple[State, ...]:
        """Return the possible states of a node."""
        return self._states[node]

    def number(self, step: Step) -> int:
        """Return the number of a step without anchors, for `step`."""
        return self._steps.setdefault(step, len(self._steps))

    def step(self, node: int, number: int, step: Step, outcome: Outcome) -> Transition:
        """Judge the outcome of a step (without anchors, numbered by `number`) made in a node."""
        kind, value, buffer, _ = outcome
        # The type is part of the key, because True == 1.
        key: _Key = (node, number, kind, type(value), value, buffer)
        try:
            transition = self._memo.get(key)
        except TypeError:  # an unhashable value, which should not have been returned
            key = (node, number, kind, _Unhashable, _Unhashable(value), buffer)
            transition = None
        if transition is None:
            transition = self._remember(key, step, outcome)
        transition.count += 1
        return transition

    def _remember(self, key: _Key, step: Step, outcome: Outcome) -> Transition:
        judgement = judge_all(step.op, step.args, self._states[key[0]], self.features, outcome)
        target = self._node(judgement.states) if judgement.states else -1
        transition = Transition(target, judgement)
        if len(self._memo) > 1_000_000:
            self._forget()
        if is_large(outcome):
            self._counts.update(judgement.exercised)
        else:
            self._memo[key] = transition
        self.reached.update(judgement.exercised)
        return transition

    def _node(self, states: tuple[State, ...]) -> int:
        node = self._nodes.get(states)
        if node is None:
            node = self._nodes[states] = len(self._states)
            self._states.append(states)
        return node

    def release(self) -> None:
        """Forget all nodes, steps and judgements, at the end of a run."""
        for table in (self._nodes, self._states, self._steps, self._memo, self._counts):
            table.clear()

    def _forget(self) -> None:
        self._counts = self.counts
        self._memo.clear()

    @property
    def counts(self) -> Counter[str]:
        """The number of judged calls that exercised each clause."""
        total = Counter(self._counts)
        for transition in self._memo.values():
            for clause in transition.judgement.exercised:
                total[clause] += transition.count
        return total
