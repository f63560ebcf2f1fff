"""Run programs while the requests of their streams fail by a plan, or while a server misbehaves.

Of a misbehaving server, right bytes or any exception are permitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fscontract.contract.binding import Injector
from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.models.stream_state import Failure, State, opened
from fscontract.contract.models.under_faults import (
    REQUESTS,
    Circumstances,
    failed,
    judge_under_faults,
)
from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import FaultPlan
from fscontract.contract.program.filesystem_calls import WHOLE_READS
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome, raised, returned
from fscontract.contract.program.program import Program, Step
from fscontract.contract.program.server_faults import clause_of_server
from fscontract.contract.runner.execution import Execution, Violation, Workspace
from fscontract.contract.spec.clauses import Level, clauses

#: Faults that change the file, which other programs then can't use.
CHANGING = frozenset({"change", "cut", "delete", "revoke"})
_CLOSE = Step("close")
_CLEAN = IO_KINDS | {Kind.ENVIRONMENT}


@dataclass
class _Stream:
    """A stream under faults.

    It has the possible states, whether a call on it has failed, and whether a fault has struck one,
    or its open.
    """

    opened: Any
    states: tuple[State, ...]
    failed: bool = False
    struck: bool = False


@dataclass
class FaultyRun:
    """One program with its faults."""

    workspace: Workspace
    injector: Injector
    program: Program
    path: str
    data: bytes
    execution: Execution
    counts: Counter[str] = field(default_factory=Counter)
    streams: list[_Stream] = field(default_factory=list)

    @property
    def progress(self) -> bool:
        """True if a request that a fault strikes still returns bytes."""
        faults = self.program.faults.faults if self.program.faults else ()
        return any(f.kind in ("short", "cut-body") and f.limit > 0 for f in faults)

    @property
    def _changing(self) -> bool:
        """True if the faults change the content that all streams read."""
        return self.program.faults is not None and bool(self.program.faults.kinds & CHANGING)

    def run(self) -> None:
        """Open the streams, make the calls, close; then check a new stream."""
        plan = self.program.faults
        assert plan is not None
        with self.injector.attached(plan):
            if self._open():
                self._follow()
            self._close()
        if self.execution.violation is None and not self._changing:
            self._check_new_stream()

    def _open(self) -> bool:
        for _ in range(self.program.streams):
            fired, requests = self.injector.fired, self.injector.requests
            outcome, stream = returned(), None
            try:
                stream = self.workspace.binding.open(self.path)
            except Exception as error:  # any exception: it is judged
                outcome = raised(error)
            struck = self.injector.fired - fired
            requested = self.injector.requests - requests
            if stream is not None:
                versions = self._versions(self.injector.fired)
                state = opened(self.data)._replace(versions=versions, changed=len(versions) > 1)
                self.streams.append(_Stream(stream, (state,), struck=struck > 0))
            if not self._right_open(outcome, struck, requested) or stream is None:
                return False
        return True

    def _right_open(self, outcome: Outcome, struck: int, requested: int) -> bool:
        """Judge an open during which faults struck and requests were made."""
        failure: Failure | None = None
        self.counts["fault.open"] += struck > 0
        if requested > REQUESTS:
            says = f"at most {REQUESTS} requests"
            failure = Failure("fault.retries", "", "requests", (says,))
            outcome = outcome._replace(detail=f"{outcome.detail or 'opened'}, {requested} requests")
        elif outcome.raised and not (struck and outcome.kind in _CLEAN):
            clause = "fault.open" if struck else "open.state"
            if not struck and self.injector.fired and not self._changing:
                clause = "fault.isolated"
            failure = Failure(clause, "", "raised", ("raises IO" if struck else "opens",))
        elif outcome.kind is Kind.EOF:
            failure = Failure("fault.end", "", "raised", ("raises IO, for nothing ends here",))
        if failure is not None:
            self._violation(-1, Step("open"), outcome, failure)
        return failure is None

    def _follow(self) -> None:
        workspace, injector = self.workspace, self.injector
        features = workspace.acceptor.features
        for index, source in enumerate(self.program.steps):
            workspace.index = index
            stream = self.streams[source.stream]
            compiled = workspace.compile(self.program.length, source)
            fired, requests = injector.fired, injector.requests
            outcome = compiled.action(stream.opened)
            workspace.operations += 1
            struck = injector.fired - fired
            requested = injector.requests - requests - (struck if self.progress else 0)
            around = Circumstances(struck, requested, stream.failed)
            if struck:
                self._changed()
            stream.struck = stream.struck or struck > 0
            judgement = judge_under_faults(compiled.step, stream.states, features, outcome, around)
            self.execution.trace.append((source, outcome, judgement))
            self.counts.update(judgement.exercised)
            if judgement.failure is not None:
                failure = judgement.failure
                if self._by_another(stream, around, outcome):
                    failure = failure._replace(clause="fault.isolated", cause="")
                self._violation(index, source, outcome, failure)
                return
            stream.states = judgement.states
            stream.failed = stream.failed or (struck > 0 and failed(outcome))

    def _by_another(self, stream: _Stream, around: Circumstances, outcome: Outcome) -> bool:
        """Return whether a stream fails because of the faults of another one.

        Its own calls passed, and if it delivers wrong bytes no fault has struck them either.
        """
        own = stream.struck if not outcome.raised else around.failed or around.fired > 0
        others = any(s.struck for s in self.streams if s is not stream)
        return others and not own and not self._changing

    def _changed(self) -> None:
        """Add the states of streams whose file may have changed."""
        versions = self._versions(self.injector.fired)
        for stream in self.streams:
            if len(versions) > 1:
                stream.states = tuple(
                    state._replace(versions=versions, changed=True) for state in stream.states
                )

    def _versions(self, fired: int) -> tuple[bytes, ...]:
        """Return every possible content of the file after this number of faults."""
        plan = self.program.faults or FaultPlan()
        versions = [self.data]
        if fired and "change" in plan.kinds:
            versions += [replacement(v) for v in list(versions)]
        if fired and "cut" in plan.kinds:
            versions += [v[: len(v) // 2] for v in list(versions)]
        if fired and plan.kinds & {"delete", "revoke"}:
            versions += versions[:1]
        return tuple(versions)

    def _close(self) -> None:
        close = self.workspace.compile(self.program.length, _CLOSE).action
        self.workspace.index = len(self.program.steps)
        for stream in self.streams:
            outcome = close(stream.opened)
            if not self.injector.fired:
                continue  # ordinary programs judge it
            self.counts["fault.close"] += 1
            if outcome.raised and self.execution.violation is None:
                failure = Failure("fault.close", "", "raised", ("close() returns",))
                self._violation(len(self.program.steps), _CLOSE, outcome, failure)

    def _check_new_stream(self) -> None:
        """Check that a new stream on the same file is not affected."""
        binding, workspace = self.workspace.binding, self.workspace
        read = next((s for s in _reads(len(self.data)) if s.op in binding.operations), None)
        if read is None:
            return
        outcome = self._read_new_stream(read)
        state = (opened(self.data),)
        compiled = workspace.compile(self.program.length, read)
        judgement = judge_under_faults(
            compiled.step, state, workspace.acceptor.features, outcome, Circumstances(0, 0, False)
        )
        self.counts["fault.isolated"] += 1
        if judgement.failure is not None:
            failure = judgement.failure._replace(clause="fault.isolated", cause="")
            self._violation(len(self.program.steps), read, outcome, failure)

    def _read_new_stream(self, read: Step) -> Outcome:
        try:
            stream = self.workspace.binding.open(self.path)
        except Exception as error:  # any exception: it must not occur
            return raised(error)
        try:
            return self.workspace.compile(self.program.length, read).action(stream)
        finally:
            self.workspace.compile(self.program.length, _CLOSE).action(stream)

    def _violation(self, index: int, step: Step, outcome: Outcome, failure: Failure) -> None:
        self.execution.violation = Violation(self.program, index, step, outcome, failure)


def _reads(length: int) -> Iterator[Step]:
    """Yield ways to read a whole file, or its beginning."""
    yield Step("read_fully", (0, length, 0, length))
    yield Step("py_read", (length,))
    yield Step("read_into", (length, 0, length))


def run_under_faults(workspace: Workspace, program: Program, execution: Execution) -> Counter[str]:
    """Run a program with its faults; return the clauses it exercised.

    Do nothing without an injector or if it does not support one of the faults.
    """
    injector, plan = workspace.binding.injector, program.faults
    if injector is None or plan is None or not plan.kinds <= injector.kinds:
        return Counter()
    path, data, _ = workspace.file(program.length)
    own = bool(plan.kinds & CHANGING)
    if own:
        data = workspace.new_content(program.length, program)
        path = workspace.binding.create(data)
    run = FaultyRun(workspace, injector, program, path, data, execution)
    try:
        run.run()
    finally:
        if own:
            workspace.forget(path)
    return run.counts


#: A kind of fault after which a file may seem to end at half of its length.
_HALVING = "understate-length"


class ServerFaultRun(FaultyRun):
    """One program with the faults of its server; only wrong bytes and early ends are violations."""

    @property
    def clause(self) -> str:
        """The clause about the faults of the program."""
        assert self.program.faults is not None
        return clause_of_server(self.program.faults.kinds)

    def _close(self) -> None:
        self.workspace.index = len(self.program.steps)
        close = self.workspace.compile(self.program.length, Step("close")).action
        for stream in self.streams:
            close(stream.opened)

    def _check_new_stream(self) -> None:
        """Do nothing: only the streams under faults are judged."""

    def _right_open(self, outcome: Outcome, struck: int, requested: int) -> bool:
        self.counts[self.clause] += struck > 0
        return not outcome.raised

    def _versions(self, fired: int) -> tuple[bytes, ...]:
        plan = self.program.faults
        halved = fired and plan is not None and _HALVING in plan.kinds
        return (self.data, self.data[: len(self.data) // 2]) if halved else (self.data,)

    def _follow(self) -> None:
        workspace, injector = self.workspace, self.injector
        features = workspace.acceptor.features
        for index, source in enumerate(self.program.steps):
            workspace.index = index
            stream = self.streams[source.stream]
            compiled = workspace.compile(self.program.length, source)
            fired = injector.fired
            outcome = compiled.action(stream.opened)
            workspace.operations += 1
            struck = injector.fired - fired
            self.counts[self.clause] += struck > 0
            if struck:
                self._changed()
            any_error = _as_error(source, outcome)
            around = Circumstances(struck, 0, stream.failed or injector.fired > 0)
            judgement = judge_under_faults(
                compiled.step, stream.states, features, any_error, around
            )
            self.execution.trace.append((source, outcome, judgement))
            if judgement.failure is not None:
                if injector.fired and _is_wrong(source, any_error):
                    self._keep(index, source, outcome, judgement.failure)
                return
            stream.states = judgement.states
            stream.failed = stream.failed or failed(any_error)

    def _keep(self, index: int, step: Step, outcome: Outcome, failure: Failure) -> None:
        failure = failure._replace(clause=self.clause, cause="", also=())
        if clauses()[self.clause].level is Level.MUST:
            self._violation(index, step, outcome, failure)
            return
        missed = Violation(self.program, index, step, outcome, failure, missed=True)
        self.execution.misses.append(missed)


def _as_error(step: Step, outcome: Outcome) -> Outcome:
    """Return the outcome with every exception as an IOException, but the end that a read reports.

    Whatever a call raises after the first fault is right.
    """
    is_end = outcome.kind is Kind.EOF and step.op in READ_OPERATIONS
    return outcome._replace(kind=Kind.IO) if outcome.raised and not is_end else outcome


def _is_wrong(step: Step, outcome: Outcome) -> bool:
    """Return whether a call that violates its model returned bytes, or an end."""
    if step.op in WHOLE_READS:
        return not outcome.raised
    return step.op in READ_OPERATIONS and (outcome.kind is Kind.EOF or not outcome.raised)


def run_under_server_faults(
    workspace: Workspace, program: Program, execution: Execution
) -> Counter[str]:
    """Run a program while its server misbehaves; return the clauses it exercised.

    Do nothing without an injector or if it does not support one of the faults.
    """
    injector, plan = workspace.binding.injector, program.faults
    if injector is None or plan is None or not plan.kinds <= injector.kinds:
        return Counter()
    path, data, _ = workspace.file(program.length)
    run = ServerFaultRun(workspace, injector, program, path, data, execution)
    run.run()
    return run.counts
