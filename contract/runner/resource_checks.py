"""Check descriptors, threads, connections and status that a stream leaves behind."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from typing import NamedTuple

from fscontract.contract.binding import Binding
from fscontract.contract.program.outcome import raised
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.timeouts import beat, untimed

_DESCRIPTORS = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
#: Runs that confirm a suspicion: a leak grows by one each time, a pool does not.
_REPEATS = 8
#: A target that leaks this many threads is left, or descriptors where there are few to have.
MAX_GROWTH = 400
#: And one that leaks so many in any case; each takes room, and some time of every look at them.
_MOST_DESCRIPTORS = 8_000
#: What a run says of it, before what there is too much of.
OUT_OF = "out of "
#: The clauses of what streams leave behind.
CLAUSES = frozenset({"close.release", "fault.release"})
#: Suspicions of a leak that are looked into; each costs some runs of a program. Clients of remote
#: targets have pools of connections, which come and go.
_MOST_SUSPICIONS = 100
_MOST_REMOTE_SUSPICIONS = 10
_STANDARD_ERROR = 2


class Held(NamedTuple):
    """What the process holds: the lowest free descriptor, and how many threads live."""

    descriptor: int
    threads: int


def glance() -> Held:
    """A look that costs about a microsecond. A leaked descriptor takes the lowest number, so
    the lowest free one rises; it may also rise for other reasons, which `grows` sorts out."""
    try:
        free = os.dup(2)
    except OSError:  # the target closed it, so it is free
        return Held(2, threading.active_count())
    os.close(free)
    return Held(free, threading.active_count())


def count() -> Held:
    """The number of open descriptors, and of threads; a glance where they can't be listed."""
    try:
        return Held(len(os.listdir(_DESCRIPTORS)), threading.active_count())
    except OSError:
        return glance()


def most_descriptors() -> int:
    """How many a local target may leak before it is left: half of what the process may have.

    Otherwise it could open nothing more, and all else would seem broken.
    """
    try:
        import resource
    except ImportError:  # Windows
        return MAX_GROWTH
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST_DESCRIPTORS
    return max(MAX_GROWTH, min(allowed // 2, _MOST_DESCRIPTORS))


def grows(again: Callable[[], object]) -> str:
    """What `again` leaves behind each time: "" or, say, "a descriptor"."""
    with untimed():  # in a large process it takes longer than a call may
        gc.collect()
    before = count()
    for number in range(1, _REPEATS + 1):
        again()
        now = count()
        if now.descriptor < before.descriptor + number and now.threads < before.threads + number:
            return ""
    with untimed():
        gc.collect()
    after = count()
    if after.descriptor - before.descriptor >= _REPEATS:
        return "a descriptor"
    return "a thread" if after.threads - before.threads >= _REPEATS else ""


class LeakWatch:
    """Looks after each program for what it has left."""

    def __init__(self, remote: bool = False) -> None:
        self._first = self._held = glance()
        self._suspicions = 0
        self._max_suspicions = _MOST_REMOTE_SUSPICIONS if remote else _MOST_SUSPICIONS
        self._most_descriptors = MAX_GROWTH if remote else most_descriptors()
        #: What there is too much of to go on, "" if nothing is.
        self.too_many = ""

    @property
    def growth(self) -> int:
        """How many more descriptors, or threads, there are than at the beginning."""
        now = glance()
        return max(now.descriptor - self._first.descriptor, now.threads - self._first.threads, 0)

    def restart(self) -> None:
        """Take what is held now, such as by a call that was abandoned, as given."""
        self._held = glance()

    def left(self, again: Callable[[], object], restore: Callable[[], None], known: bool) -> str:
        """What the last program leaves each time it is run, as from `grows`; "" if that is `known`.

        `restore` opens standard streams again that the program has closed.
        """
        held = glance()
        if held.descriptor <= _STANDARD_ERROR:
            restore()
            held = glance()
        if held.descriptor > self._first.descriptor + self._most_descriptors:
            self.too_many = "descriptors"
        elif held.threads > self._first.threads + MAX_GROWTH:
            self.too_many = "threads"
        more = held.descriptor > self._held.descriptor or held.threads > self._held.threads
        if not more or self.too_many or known or self._suspicions >= self._max_suspicions:
            return ""
        self._suspicions += 1
        left = grows(again)
        self._held = glance()
        return left


#: The clause of what the status says.
STATUS = "model.len-eq-status"
_LENGTH = 5
_READ = Step("read_byte")
_UNBUFFER = Step("unbuffer")
#: How many streams are open at the same time when it is looked at what they hold.
_STREAMS = 4


def check_length(binding: Binding, path: str, data: bytes) -> tuple[bool, Counterexample | None]:
    """The status's length must be that of the data.

    Returns whether there is a status, and the counterexample if it is a wrong one.
    """
    try:
        reported = binding.status_length(path)
    except Exception as error:  # whatever it is, a status is no reason for it
        actual, how = str(raised(error)), "status: raised"
    else:
        if reported is None:
            return False, None
        if type(reported) is int and reported == len(data):
            return True, None
        value = reported if type(reported) is int else type(reported).__name__
        actual, how = f"a status with length {value}", "status: another length"
    expected = f"a status with length {len(data)}"
    return True, Counterexample(Program(len(data), ()), (expected,), actual, how=how)


def check_unbuffer(executor: Executor) -> tuple[int, Counterexample | None]:
    """After unbuffer an open stream holds no descriptor and no thread.

    Returns how often this was seen (a stream that holds nothing anyway shows nothing), and the
    counterexample if one was found. Several streams are tried, since a client may keep a connection
    for all of them together, which is nobody's leak.
    """
    path, _, _ = executor.file(_LENGTH)
    exercised = 0
    for steps in ((_UNBUFFER,), (_READ, _UNBUFFER), (_READ, _UNBUFFER, _READ, _UNBUFFER)):
        program = Program(_LENGTH, steps)
        if executor.leaves_out(program):
            continue
        beat(program)
        holding, left = _after_unbuffer(executor, path, steps)
        exercised += holding
        if left:
            return exercised, Counterexample(
                program,
                ("no descriptor and no thread is held",),
                f"still holds {left}",
                step=len(steps),
                how="unbuffer: still holds something",
            )
    return exercised, None


def _after_unbuffer(executor: Executor, path: str, steps: tuple[Step, ...]) -> tuple[bool, str]:
    """Whether a stream held something before its last step, and what each still holds after it."""
    before = count()
    holding = False
    streams = []
    try:
        for _ in range(_STREAMS):
            now = count()
            stream = executor.binding.open(path)
            streams.append(stream)
            for step in steps[:-1]:
                executor.compile(_LENGTH, step).action(stream)
            holding = holding or _more(now, count(), 1) != ""
            executor.compile(_LENGTH, _UNBUFFER).action(stream)
        return holding, _more(before, count(), _STREAMS)
    finally:
        executor.close(Program(_LENGTH, steps), streams)


def _more(before: Held, after: Held, minimum: int) -> str:
    """What there is so many more of, "" if nothing."""
    if after.descriptor - before.descriptor >= minimum:
        return "a descriptor"
    return "a thread" if after.threads - before.threads >= minimum else ""
