"""What the filesystem says of a file, and what a stream holds while it is open."""

from __future__ import annotations

from fscontract.contract.binding import Binding
from fscontract.contract.program import Program, Step
from fscontract.contract.suite import leaks
from fscontract.contract.suite.execute import Executor
from fscontract.contract.suite.result import Counterexample

_LENGTH = 5
_READ = Step("read_byte")
_UNBUFFER = Step("unbuffer")
_CLOSE = Step("close")


def check_length(binding: Binding, path: str, data: bytes) -> Counterexample | None:
    """The status's length must be that of the data; None if it is, or if there is no status."""
    reported = binding.status_length(path)
    if reported is None or reported == len(data):
        return None
    return Counterexample(
        Program(len(data), ()),
        (f"a status with length {len(data)}",),
        f"a status with length {reported}",
        how="status: another length",
    )


def check_unbuffer(executor: Executor) -> tuple[int, Counterexample | None]:
    """After unbuffer an open stream holds no descriptor and no thread.

    Returns how often this was seen (a stream that holds nothing anyway shows nothing), and the
    counterexample if one was found.
    """
    path, _, _ = executor.file(_LENGTH)
    exercised = 0
    for steps in ((_UNBUFFER,), (_READ, _UNBUFFER), (_READ, _UNBUFFER, _READ, _UNBUFFER)):
        before = leaks.count()
        stream = executor.binding.open(path)
        try:
            for step in steps[:-1]:
                executor.compile(_LENGTH, step).action(stream)
            holding = leaks.count()
            executor.compile(_LENGTH, _UNBUFFER).action(stream)
            after = leaks.count()
        finally:
            executor.compile(_LENGTH, _CLOSE).action(stream)
        if holding.descriptor > before.descriptor or holding.threads > before.threads:
            exercised += 1
        if after.descriptor > before.descriptor or after.threads > before.threads:
            what = "a descriptor" if after.descriptor > before.descriptor else "a thread"
            return exercised, Counterexample(
                Program(_LENGTH, steps),
                ("no descriptor and no thread is held",),
                f"still holds {what}",
                step=len(steps),
                how="unbuffer: still holds something",
            )
    return exercised, None
