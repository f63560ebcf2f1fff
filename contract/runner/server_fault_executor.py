"""Run programs while the server of their streams misbehaves: right bytes, or any exception."""

from __future__ import annotations

from collections import Counter

from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.models.stream_state import Failure
from fscontract.contract.models.under_faults import Circumstances, failed, judge_under_faults
from fscontract.contract.program.filesystem_calls import WHOLE_READS
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.contract.program.server_faults import clause_of_server
from fscontract.contract.runner.execution import Execution, Violation, Workspace
from fscontract.contract.runner.fault_executor import FaultyRun
from fscontract.contract.spec.clauses import Level, clauses

#: A kind of fault after which a file may seem to end at half of its length.
_HALVING = "understate-length"


class ServerFaultRun(FaultyRun):
    """One program with the faults of its server; only wrong bytes and early ends are violations."""

    @property
    def clause(self) -> str:
        """The clause about the faults of the program."""
        assert self.program.faults is not None
        return clause_of_server(self.program.faults.kinds)

    def run(self) -> None:
        """Open the streams, make the calls, close."""
        plan = self.program.faults
        assert plan is not None
        with self.injector.attached(plan):
            if self._open():
                self._follow()
            self.workspace.index = len(self.program.steps)
            close = self.workspace.compile(self.program.length, Step("close")).action
            for stream in self.streams:
                close(stream.opened)

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
