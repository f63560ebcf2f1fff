"""Share out the time of a run: among its phases, and for the calls that hang."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from fscontract.contract import clock

#: How many seconds a run on one target may take, by effort.
BUDGETS = {"quick": 60.0, "normal": 600.0, "deep": math.inf}
#: Efforts, from seconds to an hour.
EFFORTS = tuple(BUDGETS)
#: How the time of a run is divided among its phases; any other phase may take all that is left.
WEIGHTS = {
    "vectors": 12.0,
    "exhaustive": 5.0,
    "buffers": 1.0,
    "filesystem": 3.0,
    "seeded": 1.0,
    "blocks": 1.0,
    "sizes": 1.0,
    "boundaries": 1.0,
    "ranges": 1.0,
    "numbers": 1.0,
    "counts": 1.0,
    "changes": 1.0,
    "paths": 0.5,
    "openings": 3.0,
    "faults": 4.0,
    "server faults": 12.0,
    "search": 0.5,
    "status": 0.5,
    "resources": 2.0,
    "growth": 0.5,
    "costs": 1.0,
    "threads under faults": 1.0,
    "concurrency": 5.0,
}
#: What the first program of a phase may take of the time that is left.
_FIRST = 0.25
#: What shrinking may take of the time that is left: one failure, and all of them of the whole.
_SHRINK, _SHRINK_ALL = 0.1, 0.5
#: What shrinking and attributing one failure may take of the time that is left, and in any case.
_ATTRIBUTE, _ATTRIBUTE_SECONDS = 0.5, 1.0
#: The part of a budget that calls that hang may take; in any case they may take this number of
#: seconds, but at most the last part of the budget.
_HANGS, _HANG_SECONDS, _HANGS_AT_MOST = 0.1, 15.0, 0.5
#: The part of that time that one call may take, its lower bound in seconds, and how much longer
#: than the slowest calls so far it has to be.
_HANG_PART, _HANG_LIMIT, _SLOWER = 4, 1.0, 20.0
#: That bound in seconds for a call in a function in which others hung.
_OTHERS_HANG, _TWICE = 0.25, 2
#: How many bytes a call reads in a second at least: it may read a whole file.
_SLOWEST_READ = 1 << 19


class TimeBudget:
    """A number of seconds from now on; infinite by default.

    `kept` returns how many of them are for what follows, so far.
    """

    def __init__(self, seconds: float = math.inf, kept: Callable[[], float] = lambda: 0.0) -> None:
        self.seconds = seconds
        self._kept = kept
        self._begin = clock.monotonic()
        self._end = self._begin + seconds

    @property
    def spent(self) -> float:
        """The seconds since its beginning."""
        return clock.monotonic() - self._begin

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(self._end - self._kept() - clock.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0.0

    def part(self, share: float) -> TimeBudget:
        """Return the budget of a share, from 0 to 1, of the time that is left."""
        return TimeBudget(self.left * share)

    def extend(self, seconds: float) -> None:
        """Add time."""
        self._end += seconds


class PhaseTimes:
    """The time of a run, divided among phases, shrinking and calls that hang.

    `kept` returns the seconds that removing the run's files takes.
    """

    def __init__(
        self,
        seconds: float = math.inf,
        timeout: float = math.inf,
        kept: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.run = TimeBudget(seconds, kept)
        #: The time of the phase that runs now.
        self.phase = self.run
        self.hangs = HangTime(seconds, timeout)
        self._waiting = dict(WEIGHTS)
        self._shrinking = 0.0
        self._is_resumed = False

    def leave_out(self, phases: Iterable[str]) -> None:
        """Keep no time for these phases."""
        for phase in phases:
            self._waiting.pop(phase, None)

    @property
    def of_first(self) -> float:
        """The seconds that the first program of a phase may take: more than a small share."""
        return max(self.phase.left, self.run.left * _FIRST)

    def begin(self, phase: str) -> None:
        """Give a phase its share of the time that is left."""
        whole = sum(self._waiting.values())
        weight = self._waiting.pop(phase, 0)
        self._is_resumed = False
        self.phase = self.run.part(weight / whole if weight else 1)

    def resume(self, phases: Sequence[str]) -> None:
        """Give the first of these phases, which were cut short, its share of the time left."""
        weights = [WEIGHTS.get(phase, 1.0) for phase in phases]
        self._is_resumed = True
        self.phase = self.run.part(weights[0] / sum(weights))

    @property
    def may_shrink(self) -> bool:
        """Whether there is time to shrink failures of clauses that have failed already."""
        return self._shrinking <= self.run.seconds * _SHRINK_ALL and not self.run.is_over

    def begin_shrinking(self) -> TimeBudget:
        """Return the time that shrinking a failure may take."""
        return self.run.part(_SHRINK)

    def begin_attributing(self) -> TimeBudget:
        """Return the time that shrinking and attributing a failure may take."""
        return TimeBudget(max(self.run.left * _ATTRIBUTE, _ATTRIBUTE_SECONDS))

    def end_shrinking(self, budget: TimeBudget) -> None:
        """Leave the phase the time that shrinking took, unless it was cut short: others wait."""
        if self.run.seconds < math.inf:
            self._shrinking += budget.spent
            if not self._is_resumed:
                self.phase.extend(budget.spent)


class HangTime:
    """The seconds that calls may hang in one run, and how long one call may take.

    `budget` is that of the run and `timeout` what a call may take at most, both in seconds.
    """

    def __init__(self, budget: float, timeout: float) -> None:
        self._timeout = timeout
        #: The seconds that calls may still hang.
        self.left = max(min(_HANG_SECONDS, budget * _HANGS_AT_MOST), budget * _HANGS)
        if math.isinf(budget):
            self.left = max(_HANG_SECONDS, 6 * timeout)
        self._seconds = 0.0
        self._calls = 0
        #: The seconds of a call in the two slowest programs: the last may import a library once.
        self._slow = [0.0, 0.0]

    def limit(
        self,
        length: int = 0,
        again: bool = False,
        where_others_hang: bool = False,
        stalls: bool = False,
    ) -> float:
        """Return how many seconds a call on a file of `length` bytes may take; then it hangs.

        It is the whole timeout for a target that `stalls`, whose late calls end later. A stream
        without a buffer may read a line by as many requests as it has bytes. A call that was late
        and is made `again` has the time of one in a long run, however short this run is; one that
        is in a function of the target `where_others_hang` has less, and once the time for hangs is
        spent, the least, whatever its file is: it is left out then, and not judged.
        """
        if stalls and not where_others_hang:
            return self._timeout
        slow = self._slow[0]
        patience = max(self.left / _HANG_PART, _HANG_LIMIT, slow * _SLOWER)
        if where_others_hang and self.is_spent:
            return min(self._timeout, max(_OTHERS_HANG, slow))
        if where_others_hang:
            patience = max(_OTHERS_HANG, min(_HANG_LIMIT, slow * _SLOWER), slow * _TWICE)
        elif again:
            patience = max(patience, _HANG_SECONDS / _HANG_PART)
        each_byte = 1 / _SLOWEST_READ
        if not where_others_hang:
            each_byte = max(each_byte, self._seconds / max(self._calls, 1))
        return min(self._timeout, patience + length * each_byte)

    @property
    def bytes_in_time(self) -> float:
        """The bytes of the longest file that is read in time by a request for each byte.

        Such a request takes as long as the mean call; half of the timeout is for other work.
        """
        return self._timeout * self._calls / self._seconds / 2 if self._seconds else math.inf

    @property
    def is_spent(self) -> bool:
        """Whether calls have hung for all the time that they may."""
        return self.left <= 0

    def spend(self, seconds: float) -> None:
        """Count the seconds that a call hung."""
        self.left -= seconds

    def note(self, seconds: float, calls: int) -> None:
        """Note how long a complete program with this number of calls took."""
        self._slow = sorted((*self._slow, seconds / calls))[1:]
        self._seconds += seconds
        self._calls += calls
