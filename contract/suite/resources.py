"""What the filesystem says of a file, and what a stream holds while it is open."""

from __future__ import annotations

from fscontract.contract.binding import Binding
from fscontract.contract.outcome import raised
from fscontract.contract.program import Program, Step
from fscontract.contract.suite import leaks
from fscontract.contract.suite.execute import Executor
from fscontract.contract.suite.result import Counterexample
from fscontract.contract.suite.watchdog import beat

#: The clause of what the status says.
STATUS = "model.len-eq-status"
_LENGTH = 5
_READ = Step("read_byte")
_UNBUFFER = Step("unbuffer")
_CLOSE = Step("close")
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
        shown = reported if type(reported) is int else type(reported).__name__
        actual, how = f"a status with length {shown}", "status: another length"
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
    before = leaks.count()
    holding = False
    streams = []
    try:
        for _ in range(_STREAMS):
            now = leaks.count()
            stream = executor.binding.open(path)
            streams.append(stream)
            for step in steps[:-1]:
                executor.compile(_LENGTH, step).action(stream)
            holding = holding or _more(now, leaks.count(), 1) != ""
            executor.compile(_LENGTH, _UNBUFFER).action(stream)
        return holding, _more(before, leaks.count(), _STREAMS)
    finally:
        for stream in streams:
            executor.compile(_LENGTH, _CLOSE).action(stream)


def _more(before: leaks.Held, after: leaks.Held, least: int) -> str:
    """What there is so many more of, "" if nothing."""
    if after.descriptor - before.descriptor >= least:
        return "a descriptor"
    return "a thread" if after.threads - before.threads >= least else ""
