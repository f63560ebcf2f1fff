"""Observe the features that a profile leaves open.

Hadoop's documents let a connector choose, for example, whether seek() past EOF fails. If a profile
does not state the choice, each is tried once; the run then expects the connector to keep to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.timeout_policy import run_items

_LENGTH = 5
#: Outcomes of calls that the connector does not have.
_ABSENT = frozenset({Kind.INEXPRESSIBLE, Kind.UNSUPPORTED, Kind.ENVIRONMENT})

#: Calls that show no more than a feature: they are not made if no clause needs it.
_ASKED = frozenset({"has_capability", "read_buffer", "pread_buffer"})
#: The stages of an open, before the first read.
_STAGES = frozenset({"open_file", "build", "get"})

#: Returns what an outcome shows about a feature, None if nothing.
Reading: TypeAlias = Callable[[Outcome], bool | None]


class _Probe(NamedTuple):
    """A call that shows whether a connector has a feature."""

    feature: str
    program: Program
    reads: Reading


def _call(*call: object, length: int = _LENGTH) -> Program:
    return Program(length, (Step.from_json(list(call)),))


def _raised(outcome: Outcome) -> bool | None:
    return outcome.raised


def _accepted(outcome: Outcome) -> bool | None:
    return not outcome.raised


def _said(outcome: Outcome) -> bool | None:
    """Return the answer; a file without the method gives none."""
    return None if outcome.raised else outcome.value is True


def _answered(outcome: Outcome) -> bool | None:
    return outcome.value is True


def _has_read(outcome: Outcome) -> bool | None:
    """Return True if a read into a ByteBuffer gave bytes: a stream may have it undeclared."""
    return True if not outcome.raised and (outcome.value[0] or 0) > 0 else None


_PROBES = (
    _Probe("supports-seek", _call("seek", 1), _accepted),
    _Probe("supports-seek", _call("py_seekable"), _said),  # an answer counts more
    _Probe("python-file-writable", _call("py_writable"), _answered),
    _Probe("rejects-seek-past-eof", _call("seek", "len+1"), _raised),
    _Probe(
        "vector-io-early-eof-check",
        _call("read_vectored", [["len-1", 2]], "heap", "absent"),
        _raised,
    ),
    _Probe(
        "vector-io-overlapping-ranges",
        _call("read_vectored", [[0, 3], [1, 3]], "heap", "absent"),
        _accepted,
    ),
    _Probe("supports-unbuffer", _call("has_capability", "in:unbuffer"), _answered),
    _Probe("supports-bytebuffer-read", _call("has_capability", "in:readbytebuffer"), _answered),
    _Probe("supports-bytebuffer-read", _call("read_buffer", 4, 0, 4), _has_read),
    _Probe("supports-bytebuffer-pread", _call("has_capability", "in:preadbytebuffer"), _answered),
    _Probe("supports-bytebuffer-pread", _call("pread_buffer", 0, 4, 0, 4), _has_read),
    _Probe("openfile-first-read", Program(_LENGTH, (), opening=Opening("missing")), _accepted),
)


def observe(context: RunContext) -> dict[str, bool]:
    """Return the features that the profile of the run leaves open, each as one program shows it.

    A feature whose program has ended a process is declared, so that its clause reports that.
    """
    open_features = context.settings.profile.observed
    context.begin_phase("observe")
    seen: dict[str, bool] = {}
    operations = context.operations

    needed = {need.removeprefix("!") for c in context.settings.clauses for need in c.needs}

    def programs() -> Iterator[Program]:
        for probe in _PROBES:
            ops = {step.op for step in probe.program.steps}
            is_needed = probe.feature in needed or _ASKED.isdisjoint(ops)
            if context.times.run.is_over:
                return
            if probe.feature in open_features and ops <= operations and is_needed:
                yield probe.program

    def run(program: Program) -> None:
        probe = next(p for p in _PROBES if p.program is program)
        outcomes: Sequence[Outcome] = ()
        with suppress(Exception):  # the programs that are judged will show what is wrong
            outcomes = _outcomes(context, program)
        if outcomes and outcomes[-1].kind not in _ABSENT:
            value = probe.reads(outcomes[-1])
            if value is not None:
                seen[probe.feature] = value

    run_items(context, programs(), run)
    crashed = [c.program.steps for c in context.settings.crashes if c.program is not None]
    return seen | {
        p.feature: True for p in _PROBES if p.program.steps and p.program.steps in crashed
    }


#: Calls of Python's files that may raise UnsupportedOperation, as of any operation that IOBase has.
#: Not among them are read(), which readable() promises, and iteration, which IOBase promises.
_OPTIONAL: tuple[tuple[Any, ...], ...] = (
    ("py_readline", None),
    ("py_readlines", None),
    ("py_readall",),
    ("py_readinto", "B", 2),
    ("py_read1", 2),
    ("py_readinto1", "B", 2),
    ("py_peek", 1),
)


def unsupported(context: RunContext) -> dict[str, str]:
    """Return the operations that an opened file does not support, each with the reason.

    They raise UnsupportedOperation where the file is open and has data. IOBase permits that.
    """
    seen: dict[str, str] = {}

    def run(program: Program) -> None:
        with suppress(Exception):  # the programs that are judged will show what is wrong
            outcome = _outcomes(context, program)[-1]
            if outcome.kind is Kind.UNSUPPORTED:
                seen[program.steps[0].op] = f"the file does not support it: {outcome}"

    judged = {c.id.split(".")[1] for c in context.settings.clauses if c.id.startswith("python.")}
    asked = [
        _call(op, *args, length=1)  # raw files may read a line by a call for each byte
        for op, *args in _OPTIONAL
        if op in context.operations and op.removeprefix("py_") in judged
    ]
    if asked:
        context.sandbox.restore()
        in_time = takewhile(lambda program: not context.times.run.is_over, asked)
        run_items(context, in_time, run)
    return seen


def _outcomes(context: RunContext, program: Program) -> list[Outcome]:
    """Return the outcomes of a program's calls, or of the stages of its opening."""
    executor = context.executor
    if program.opening is None:
        return executor.observe(program)
    trace = executor.run(program, trace=True).trace
    return [outcome for step, outcome, _ in trace if step.op in _STAGES]
