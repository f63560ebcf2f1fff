"""Check what streams take: resources that they leave behind, and growth over thousands of calls.

What a stream leaves are descriptors, threads, connections and its status. No clause limits the time
and the memory of its calls, so growth is a warning: a list that every seek searches, a buffer that
every read keeps.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from fscontract.contract import clock
from fscontract.contract.binding import Binding, Opened
from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.outcome import raised
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import LEFT, Counterexample
from fscontract.contract.runner.shrink import with_needed_operations
from fscontract.contract.runner.signature import circumstances_of_leak
from fscontract.contract.runner.timeouts import beat, untimed

_DESCRIPTORS = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
#: Runs that confirm a suspected leak: a leak grows by one each time, a pool does not.
REPEATS = 8
#: The seconds within which a thread that is ending has ended, and those between two counts.
_ENDING, _GLANCE = 0.5, 0.005
#: The limit of leaked threads or descriptors after which a run ends, if few are available.
MAX_GROWTH = 400
#: The limits in any case; each leak takes memory, and some time in every check.
_MOST_DESCRIPTORS, _MOST_THREADS = 8_000, 4_000
#: The file with the limit of threads of a container.
_CONTAINER_THREADS = Path("/sys/fs/cgroup/pids.max")
#: The approximate number of programs of a run at quick, and the leaks from which on their rate
#: tells how many all programs leave.
_PROGRAMS, _TELLING = 60_000, 50
#: The start of a message, before the leaked resource.
OUT_OF = "out of "
#: The clauses of leaks.
CLAUSES = frozenset({"close.release", "fault.release"})
#: The number of suspected leaks to confirm; each costs some runs of a program. Clients of remote
#: targets have pools of connections, whose size varies.
_MOST_SUSPICIONS = 100
_MOST_REMOTE_SUSPICIONS = 10
_STANDARD_ERROR = 2


class Held(NamedTuple):
    """The resources of the process: the open descriptors, and the number of threads.

    A kernel that does not count descriptors tells the lowest free one.
    """

    descriptor: int
    threads: int


def glance() -> Held:
    """Return the resources in some microseconds.

    Without a count, a leak shows if the descriptor takes the lowest number. It does not if another
    one, which was opened before it, is closed: that one has a lower number. `grows` excludes other
    reasons for a rise.
    """
    try:
        free = os.dup(2)
    except OSError:  # the target closed it, so it is free
        return Held(2, threading.active_count())
    os.close(free)
    if free > _STANDARD_ERROR:
        free = max(free, _counted())
    return Held(free, threading.active_count())


def _counted() -> int:
    """Return the number of open descriptors, as Linux tells it from version 6.2 on; else 0."""
    try:
        return os.stat(_DESCRIPTORS).st_size if _DESCRIPTORS.startswith("/proc") else 0
    except OSError:
        return 0


def count() -> Held:
    """Count open descriptors, and threads; glance where they can't be listed."""
    try:
        return Held(len(os.listdir(_DESCRIPTORS)), threading.active_count())
    except OSError:
        return glance()


def most_descriptors() -> int:
    """Return the limit of leaked descriptors of a local target: half of the process's limit.

    Otherwise no file could be opened, and everything else would fail.
    """
    try:
        import resource
    except ImportError:  # Windows
        return MAX_GROWTH
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST_DESCRIPTORS
    return max(MAX_GROWTH, min(allowed // 2, _MOST_DESCRIPTORS))


def most_threads() -> int:
    """Return the limit of leaked threads of a local target: a quarter of those that may start.

    With more, another process of the user might be unable to start one.
    """
    try:
        import resource
    except ImportError:  # Windows
        return MAX_GROWTH
    allowed = [4 * _MOST_THREADS]
    of_user, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if of_user != resource.RLIM_INFINITY:
        allowed.append(of_user)
    with suppress(OSError, ValueError):  # no such file, or no limit
        allowed.append(int(_CONTAINER_THREADS.read_text()))
    return max(MAX_GROWTH, min(allowed) // 4)


#: The resources that a program may leak.
LEAKED = frozenset({"a descriptor", "a thread"})


def grows(again: Callable[[], object], known: Collection[str] = ()) -> str:
    """Return what `again` leaks each time that is not known: "", or one of LEAKED.

    It has to grow twice: a pool grows at once by the connections of requests at the same time. What
    was garbage before is left alone, which makes a collection quick in a large process.
    """
    gc.freeze()
    try:
        left = _growth(again, known)
        return left if left and _growth(again, known) == left else ""
    finally:
        gc.unfreeze()


def _growth(again: Callable[[], object], known: Collection[str]) -> str:
    before = count()
    for number in range(1, REPEATS + 1):
        again()
        if not _risen(before, count(), known, number):
            return ""
    gc.collect()
    now = count() if "a thread" in known else _settled(before, REPEATS)
    return _risen(before, now, known, REPEATS)


def _settled(before: Held, least: int) -> Held:
    """Count again while there are `least` threads more, until those that are ending have ended.

    The threads of a pool that is shut down without waiting, or is garbage, end a little later.
    """
    end = clock.monotonic() + _ENDING
    now = count()
    while now.threads - before.threads >= least and clock.monotonic() < end:
        clock.sleep(_GLANCE)
        now = count()
    return now


def _risen(before: Held, now: Held, known: Collection[str], least: int = 1) -> str:
    """Return the first resource of which there are `least` more, but for those known."""
    more = {
        "a descriptor": now.descriptor - before.descriptor,
        "a thread": now.threads - before.threads,
    }
    return next((what for what, rise in more.items() if rise >= least and what not in known), "")


class LeakWatch:
    """Checks for leaks after each program."""

    def __init__(self, remote: bool = False) -> None:
        self._first = self._held = glance()
        self._suspicions = self._programs = 0
        self._confirmed = False
        self._max_suspicions = _MOST_REMOTE_SUSPICIONS if remote else _MOST_SUSPICIONS
        most = Held(MAX_GROWTH, MAX_GROWTH)
        self._most = most if remote else Held(most_descriptors(), most_threads())
        #: The resource whose leaks end the run, "" if none.
        self.too_many = ""
        #: Whether programs leak so often that a whole run would end by that.
        self.is_frequent = False

    @property
    def growth(self) -> int:
        """The increase of descriptors, or threads, since the start."""
        now = glance()
        return max(now.descriptor - self._first.descriptor, now.threads - self._first.threads, 0)

    def restart(self) -> None:
        """Take what is held now, such as by a call that was abandoned, as given."""
        self._held = glance()

    @contextmanager
    def set_apart(self) -> Iterator[None]:
        """Leave what the runs in the context leak out of the growth of the run."""
        before = glance()
        yield
        self._held = glance()
        pairs = zip(self._first, before, self._held, strict=True)
        self._first = Held(*(first + now - then for first, then, now in pairs))

    def left(
        self, again: Callable[[], object], restore: Callable[[], None], known: Collection[str]
    ) -> str:
        """Return what the last program leaks each time it is run, as from `grows`.

        Leaks of `known` resources are not looked for. `restore` opens standard streams again that
        the program has closed.
        """
        self._programs += 1
        if self._held == (_counted(), threading.active_count()):
            return ""  # as after most programs, known by the fewest system calls
        held = glance()
        if held.descriptor <= _STANDARD_ERROR:
            restore()
            held = glance()
        self.too_many = self._exceeded(held)
        if self.too_many:
            with untimed():  # in a large process it takes longer than the limit of a call
                gc.collect()
            held = glance()
            self.too_many = self._exceeded(held)
        self.is_frequent = self._confirmed and (self.is_frequent or self._would_exceed(held))
        more = _risen(self._held, held, known)
        if not more or self.too_many or self._suspicions >= self._max_suspicions:
            return ""
        self._suspicions += 1
        left = grows(again, known)
        self._confirmed = self._confirmed or bool(left)
        self._held = glance()
        return left

    def look_at_kept(self) -> None:
        """Note whether there are too many resources with those that the suite leaves open."""
        self.too_many = self._exceeded(glance())

    def _would_exceed(self, held: Held) -> bool:
        """Return whether a whole run would leak too many resources, at the rate so far."""
        return any(
            now - first >= _TELLING and (now - first) * _PROGRAMS > most * self._programs
            for now, first, most in zip(held, self._first, self._most, strict=True)
        )

    def _exceeded(self, held: Held) -> str:
        """Return the resource of which the run has leaked too many, "" if none."""
        if held.descriptor > self._first.descriptor + self._most.descriptor:
            return "descriptors"
        return "threads" if held.threads > self._first.threads + self._most.threads else ""


#: The clause of the status's length.
STATUS = "model.len-eq-status"
_LENGTH = 5
_READ = Step("read_byte")
_UNBUFFER = Step("unbuffer")
#: The number of open streams when their resources are counted.
_STREAMS = 4


class CannotOpen(Exception):
    """A file can't be opened, which programs report."""


def _opened(executor: Executor, path: str) -> Opened:
    try:
        return executor.binding.open(path)
    except Exception as error:
        raise CannotOpen from error


def check_length(binding: Binding, path: str, data: bytes) -> tuple[bool, Counterexample | None]:
    """Check that the status's length is that of the data.

    Return whether there is a status, and the counterexample if the length is wrong.
    """
    try:
        reported = binding.status_length(path)
    except Exception as error:  # any exception: the status is not required
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


#: Tells whether there is time for a number of calls.
InTime: TypeAlias = Callable[[int], bool]


def check_unbuffer(executor: Executor, in_time: InTime) -> tuple[int, Counterexample | None]:
    """Check that an open stream holds no descriptor and no thread after unbuffer.

    Return the number of observations (a stream without resources is none), and a counterexample if
    there is one. Several streams are tried, because a client may keep one connection for all of
    them, which is not a leak.
    """
    path, _, _ = executor.file(_LENGTH)
    exercised = 0
    for steps in ((_UNBUFFER,), (_READ, _UNBUFFER), (_READ, _UNBUFFER, _READ, _UNBUFFER)):
        program = Program(_LENGTH, steps)
        if executor.leaves_out(program):
            continue
        if not in_time(_STREAMS * (len(steps) + 1)):
            break
        beat(program)
        try:
            holding, left = _after_unbuffer(executor, path, steps)
        except CannotOpen:
            return exercised, None
        exercised += holding
        if left:
            return exercised, Counterexample(
                program,
                ("no descriptor and no thread is held",),
                f"still holds {left}",
                step=len(steps),
                how="unbuffer: still holds something",
                traits=("unbuffer", f"holds {left}"),
            )
    return exercised, None


#: Calls before and after close() of a stream that is held; some of them may open something.
_READS_OF_ALL_KINDS: tuple[Call, ...] = (
    ("read_byte", ()),
    ("read_into", (4, 0, 4)),
    ("pread", (1, 4, 0, 4)),
    ("read_fully", (1, 3, 0, 3)),
    ("read_fully_all", (1, 2)),
    ("read_vectored", (((0, 2), (3, 2)), "heap", "absent")),
    ("read_buffer", (4, 0, None)),
    ("pread_buffer", (1, 2, 0, None)),
    ("read_fully_buffer", (1, 2, 0, None)),
    ("skip", (9,)),
    ("py_read", (2,)),
    ("py_readinto", ("B", 1)),
    ("py_read1", (1,)),
    ("py_readinto1", ("B", 1)),
    ("py_peek", (1,)),
    ("py_readline", (None,)),
    ("py_readlines", (None,)),
    ("py_next", ()),
    ("py_iterate", ()),
    ("py_readall", ()),
    ("py_read_default", ()),
)
#: The shorter ones first: there may be no time for the others.
_HELD: tuple[tuple[Call, ...], ...] = (
    (("close", ()), ("read_byte", ()), ("pread", (0, 2, 0, 2)), ("py_read", (2,)), ("close", ())),
    (("seek", (-1,)), ("seek", ("len+1",)), ("close", ()), ("seek", (0,)), ("close", ())),
    (*_READS_OF_ALL_KINDS, ("close", ())),
    (*_READS_OF_ALL_KINDS, ("unbuffer", ()), ("close", ()), ("close", ())),
)


def held_programs(operations: frozenset[str]) -> list[Program]:
    """Return the programs after which a stream is closed and held."""
    made = [program_of(_LENGTH, calls) for calls in _HELD]
    return [p for p in expressible(made, operations) if any(s.op == "close" for s in p.steps)]


def check_held(
    executor: Executor, program: Program, in_time: InTime
) -> tuple[int, Counterexample | None]:
    """Check that the streams which a program closes hold no descriptor and no thread.

    They are still referenced. Return the number of observations, and a counterexample if there is
    one.
    """
    calls = (1 + _STREAMS) * (len(program.steps) + 1)
    if executor.leaves_out(program) or not in_time(calls):
        return 0, None
    try:
        left = held(executor, program)
        if not left:
            return 1, None
        program = with_needed_operations(
            program, lambda shorter: in_time(calls) and held(executor, shorter) == left, {"close"}
        )
    except CannotOpen:
        return 0, None
    how = f"{LEFT}{left}"
    return 1, Counterexample(
        program,
        ("a closed stream holds nothing",),
        f"left {left} while the closed stream is referenced",
        step=len(program.steps),
        how=how,
        identity="; ".join([how, *circumstances_of_leak(program)]),
        traits=("close", f"holds {left}"),
    )


def held(executor: Executor, program: Program) -> str:
    """Return what each stream holds after a program has closed it, "" if nothing.

    Raise CannotOpen. A pool that all streams share may grow at first; it must not grow with each of
    the streams. A stream without close() is not closed.
    """
    path, _, _ = executor.file(program.length)
    actions = [(s.op, executor.compile(program.length, s).action) for s in program.steps]
    streams = []

    def one_more() -> bool:
        beat(program)
        stream = _opened(executor, path)
        streams.append(stream)
        outcomes = [(op, action(stream)) for op, action in actions]
        return not any(op == "close" and outcome.lacks_method for op, outcome in outcomes)

    left = ""
    gc.freeze()
    try:
        if not one_more():
            return ""
        for count_of in (_STREAMS, REPEATS):
            gc.collect()
            before = count()
            for _ in range(count_of):
                one_more()
            gc.collect()  # what the next collection releases, whenever that is, is not held
            left = _more(before, _settled(before, count_of), count_of)
            if not left:
                return ""
        return left
    finally:
        gc.unfreeze()
        streams.clear()


def _after_unbuffer(executor: Executor, path: str, steps: tuple[Step, ...]) -> tuple[bool, str]:
    """Return whether a stream had resources before its last step, and those after it."""
    before = count()
    holding = False
    streams = []
    try:
        for _ in range(_STREAMS):
            now = count()
            stream = _opened(executor, path)
            streams.append(stream)
            for step in steps[:-1]:
                executor.compile(_LENGTH, step).action(stream)
            holding = holding or _more(now, count(), 1) != ""
            executor.compile(_LENGTH, _UNBUFFER).action(stream)
        return holding, _more(before, _settled(before, _STREAMS), _STREAMS)
    finally:
        executor.close(Program(_LENGTH, steps), streams)


def _more(before: Held, after: Held, minimum: int) -> str:
    """Return the resource that increased by this number, "" if none."""
    if after.descriptor - before.descriptor >= minimum:
        return "a descriptor"
    return "a thread" if after.threads - before.threads >= minimum else ""


#: Rounds of a stream's calls, batches of a round, and how often a batch repeats its calls.
_ROUNDS, _BATCHES, _BATCH_REPEATS = 8, 4, 25
#: How much longer a call has to take in the last round than in the first: times, and seconds.
_SLOWER_TIMES, _SLOWER_SECONDS = 4.0, 2e-5
#: The fewest objects, and bytes of memory, that a call keeps.
_OBJECTS, _BYTES = 1.0, 4096
#: Calls of a batch; operations that the API lacks are left out.
_CHEAP_CALLS = (
    Step("seek", (0,)),
    Step("read_byte"),
    Step("seek", (3,)),
    Step("pread", (1, 2, 0, 2)),
    Step("py_seek", (1, 0)),
    Step("py_read", (2,)),
)

#: The most calls of the check.
MAX_CALLS = len(_CHEAP_CALLS) * _BATCH_REPEATS * _BATCHES * _ROUNDS


class Round(NamedTuple):
    """A round of calls: the seconds of the fastest call, and what is held after the round."""

    seconds: float
    objects: int
    memory: int


def check_growth(executor: Executor) -> str:
    """Return how the calls of a stream become slower, or keep memory; "" if they do not.

    Exceptions of the calls are ignored: programs report them.
    """
    path, data, _ = executor.file(_LENGTH)
    steps = [step for step in _CHEAP_CALLS if step.op in executor.binding.operations]
    actions = [executor.compile(len(data), step).action for step in steps]
    close = executor.compile(len(data), Step("close")).action
    try:
        stream = executor.binding.open(path)
    except Exception:  # programs report a file that can't be opened
        return ""
    try:
        rounds = list(_rounds(lambda: [action(stream) for action in actions], len(actions)))
    finally:
        close(stream)
    return describe_growth(rounds, len(actions) * _BATCHES * _BATCH_REPEATS)


def _rounds(batch: Callable[[], object], calls: int) -> Iterator[Round]:
    for _ in range(_ROUNDS):
        fastest = min(_timed(batch) for _ in range(_BATCHES))
        gc.collect(0)
        yield Round(fastest / (calls * _BATCH_REPEATS), _objects(), _memory())


def _timed(batch: Callable[[], object]) -> float:
    start = clock.monotonic()
    for _ in range(_BATCH_REPEATS):
        batch()
    return clock.monotonic() - start


def describe_growth(rounds: list[Round], calls: int) -> str:
    """Return the growth over these rounds of `calls` each as text, "" if there is none.

    Caches may fill in the first half, so memory has to grow in the second one. A collection of
    garbage may free what others have left, so one of its rounds may show no growth.
    """
    first, last, half = rounds[0], rounds[-1], rounds[len(rounds) // 2 :]
    slower = all(b.seconds >= a.seconds for a, b in pairwise(rounds))
    if slower and last.seconds > first.seconds * _SLOWER_TIMES + _SLOWER_SECONDS:
        return (
            f"a call takes {last.seconds * 1e6:.0f} us after {calls * len(rounds):,} calls on one "
            f"stream, {first.seconds * 1e6:.0f} us at first"
        )
    kept = median(b.objects - a.objects for a, b in pairwise(half)) / calls
    if kept >= _OBJECTS:
        return f"each call on a stream keeps about {max(round(kept), 1)} objects"
    grown = median(b.memory - a.memory for a, b in pairwise(half)) / calls
    return f"each call on a stream keeps about {grown:,.0f} bytes" if grown >= _BYTES else ""


def _objects() -> int:
    """Return the blocks of memory that Python's objects take; 0 if that is not known."""
    count = getattr(sys, "getallocatedblocks", None)
    return count() if count is not None else 0


def _memory() -> int:
    """Return the resident memory of the process in bytes; 0 if that is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
