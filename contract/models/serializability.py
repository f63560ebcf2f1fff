"""Search for a serial order of calls that explains what several threads observed on one stream.

The document requires concurrent positioned reads and stream operations to be *serializable*. So an
order is valid if it keeps each thread's own order of calls; it need not keep the order of calls of
different threads that did not overlap in time. That would be linearizability, which is stronger
than the text. The search follows Wing and Gong: take any thread's next call, ask the acceptor
whether the outcome is permitted in the possible states, continue, and backtrack when no call fits.
It remembers visited (progress, states) pairs.

Positioned reads neither move the stream nor depend on its position, so they fit everywhere or
nowhere; they are judged once and left out of the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from fscontract.contract.models.acceptor import is_large, judge_all
from fscontract.contract.models.stream_state import ANY, Judgement, Origin, State
from fscontract.contract.program.outcome import Outcome

#: Operations with an explicit position.
POSITIONED = frozenset(
    {"pread", "read_fully", "read_fully_all", "pread_buffer", "read_fully_buffer"}
)
#: Operations that may invalidate what a positioned read depends on.
_ENDING = frozenset({"close", "change"})
#: The search needs no blame, and a single origin keeps the number of states small.
_NOBODY = Origin("")


class Observed(NamedTuple):
    """One call of one thread and its outcome.

    `ended` orders calls by the moment they ended. `judged` is False for a get_pos() during a
    positioned call, which may return any position; it only has to return.
    """

    op: str
    args: tuple[Any, ...]
    outcome: Outcome
    ended: int
    judged: bool = True


class Unexplained(NamedTuple):
    """A call that fits into no serial order: its thread, its place there, what was permitted."""

    thread: int
    call: int
    expected: tuple[str, ...]


class Serial(NamedTuple):
    """The result of a search: a serial order, or the calls that fit nowhere.

    The order lists the thread of each call that had to be ordered. Calls that fit nowhere are
    sorted by the moment they ended.
    """

    order: tuple[int, ...] | None
    unexplained: tuple[Unexplained, ...] = ()


_Key = tuple[tuple[int, ...], tuple[State, ...]]


def find_serial_order(
    threads: Sequence[Sequence[Observed]], start: State, features: frozenset[str]
) -> Serial:
    """Return a serial order that explains every outcome (PositionedReadable, isolation)."""
    search = _Search(threads, features)
    initial = (start._replace(origin=_NOBODY),)
    wrong = [] if search.ends else search.misplaced(initial)
    order = search.follow(initial)
    if order is None:
        wrong += search.stuck
    if not wrong:
        return Serial(order)
    wrong.sort(key=lambda u: threads[u.thread][u.call].ended)
    return Serial(None, tuple(dict.fromkeys(wrong)))


class _Search:
    def __init__(self, threads: Sequence[Sequence[Observed]], features: frozenset[str]) -> None:
        self.threads = threads
        self.features = features
        self.ends = any(c.op in _ENDING for calls in threads for c in calls)
        #: For each thread, the indexes of the calls that need ordering.
        self.places = [
            [n for n, c in enumerate(calls) if self.ends or c.op not in POSITIONED]
            for calls in threads
        ]
        self.stuck: list[Unexplained] = []
        self._furthest = -1

    def misplaced(self, states: tuple[State, ...]) -> list[Unexplained]:
        """Return the positioned calls whose outcome is not permitted in any state."""
        result = []
        for thread, calls in enumerate(self.threads):
            for number, call in enumerate(calls):
                if call.op in POSITIONED:
                    judgement = self._judge(call, states)
                    if judgement.failure is not None:
                        result.append(Unexplained(thread, number, judgement.failure.expected))
        return result

    def follow(self, initial: tuple[State, ...]) -> tuple[int, ...] | None:
        """Search depth first; return the order, or None with `stuck` set to the place of
        failure.
        """
        first: _Key = ((0,) * len(self.threads), initial)
        visited: set[_Key] = {first}
        stack: list[tuple[_Key, tuple[int, ...]]] = [(first, ())]
        while stack:
            (progress, states), order = stack.pop()
            heads = self._heads(progress)
            if not heads:
                return order
            if len(order) > self._furthest:
                self._furthest, self.stuck = len(order), []
            for thread, number in heads:
                after = self._take(thread, number, states, len(order))
                if after is None:
                    continue
                key = (_advanced(progress, thread), after)
                if key not in visited:
                    visited.add(key)
                    stack.append((key, (*order, thread)))
        return None

    def _heads(self, progress: tuple[int, ...]) -> list[tuple[int, int]]:
        """Return each thread's next call; the one that ended first is last, where the stack
        pops.
        """
        heads = [
            (thread, self.places[thread][done])
            for thread, done in enumerate(progress)
            if done < len(self.places[thread])
        ]
        return sorted(heads, key=lambda h: -self.threads[h[0]][h[1]].ended)

    def _take(
        self, thread: int, number: int, states: tuple[State, ...], depth: int
    ) -> tuple[State, ...] | None:
        call = self.threads[thread][number]
        if not call.judged and not call.outcome.raised:
            return states
        judgement = self._judge(call, states)
        if judgement.failure is not None:
            if depth == self._furthest:
                self.stuck.append(Unexplained(thread, number, judgement.failure.expected))
            return None
        after = [s._replace(origin=_NOBODY) for s in judgement.states]
        if call.op == "read_vectored":
            # Its effect on the position is undefined.
            after += [s._replace(pos=ANY) for s in after]
        return tuple(sorted(set(after), key=lambda s: (s.pos, s.is_open)))

    def _judge(self, call: Observed, states: tuple[State, ...]) -> Judgement:
        judging = call.op, call.args, states, self.features, call.outcome
        if is_large(call.outcome):
            return judge_all(*judging)
        try:
            return _judged(*judging, type(call.outcome.value).__name__)
        except TypeError:  # an unhashable value, which should not have been returned
            return judge_all(*judging)


@lru_cache(maxsize=1 << 12)
def _judged(
    op: str,
    args: tuple[object, ...],
    states: tuple[State, ...],
    features: frozenset[str],
    outcome: Outcome,
    _: str,
) -> Judgement:
    """Judge an outcome; most schedules have the same ones. True == 1, so its type counts."""
    return judge_all(op, args, states, features, outcome)


def _advanced(progress: tuple[int, ...], thread: int) -> tuple[int, ...]:
    return (*progress[:thread], progress[thread] + 1, *progress[thread + 1 :])
