"""Run one program on a target, and judge every call it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from fscontract.contract import clock
from fscontract.contract.binding import Binding, NoScene, Opened, TargetError
from fscontract.contract.models.acceptor import Acceptor, judge_all
from fscontract.contract.models.opened_path import (
    CLAUSE_OF,
    PathVerdict,
    judge_open,
    judge_read,
)
from fscontract.contract.models.openfile_clauses import speaks_for
from fscontract.contract.models.openfile_stages import (
    PROBES,
    READ_OPERATIONS,
    Case,
    as_end,
    ends_overstated_file,
    is_overstated,
    judge_refused_read,
)
from fscontract.contract.models.stream_state import Failure, Judgement, State
from fscontract.contract.program.content import changed_content
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.outcome import (
    INTERRUPTED_RUNS,
    Kind,
    Outcome,
    raised,
    returned,
)
from fscontract.contract.program.program import OF_FILE, Program, Step
from fscontract.contract.program.server_faults import clause_of_server
from fscontract.contract.runner.call_details import details
from fscontract.contract.runner.crashes import LeftOut, StepIndex
from fscontract.contract.runner.execution import (
    Execution,
    FileRefused,
    Violation,
    Workspace,
    stage_violation,
)
from fscontract.contract.runner.fault_executor import run_under_faults, run_under_server_faults
from fscontract.contract.runner.open_executor import NO_KEYS, Attempt, Keys, Openings
from fscontract.contract.runner.signature import circumstances, name_circumstance, relation
from fscontract.contract.runner.timeouts import (
    beat,
    is_abandoned,
    never_finalize,
    stop_collecting,
)

#: The number of streams that a store must be able to have open at once.
_STREAMS = 4


class Executor(Workspace):
    """Runs programs on one binding, and judges every call they make."""

    def __init__(
        self,
        binding: Binding,
        features: frozenset[str],
        buffer: int,
        keys: Keys = NO_KEYS,
        step_index: StepIndex | None = None,
        left_out: LeftOut | None = None,
        acceptor: Acceptor | None = None,
    ) -> None:
        super().__init__(binding, buffer, acceptor or Acceptor(features), step_index)
        self._counted_before = self.acceptor.counts
        self.unsaid: set[str] = set()
        #: Programs to skip.
        self._left_out = LeftOut() if left_out is None else left_out
        #: Number of judgements of each clause of opens with options, and of faults.
        self.counts: Counter[str] = Counter()
        #: How many programs the network or a busy store failed once, and not when they ran again.
        self.answered_again = 0
        #: The calls, with what they raised, that were interrupted each time.
        self._interrupted: set[tuple[tuple[Step, ...], str]] = set()
        #: How long all programs took.
        self.seconds = 0.0
        #: The length of the running program's file, in bytes.
        self.length = 0
        #: How many streams can be open at once, and why; "" if no program met the limit.
        self.stream_limit = ""
        self.openings: Openings | None = None
        if binding.opener is not None:
            self.openings = Openings(
                binding, binding.opener, features, keys, buffer, self.new_content
            )
        self._written = False
        #: The streams of programs that have not closed them. Those of a program whose end hangs
        #: stay here, since a finalizer that closes them would hang in any thread.
        self._open: dict[int, Sequence[Opened]] = {}
        #: The last program that was judged step by step, and the nodes of its streams.
        self._judged: tuple[Program, list[int]] | None = None

    def judge_by(self, acceptor: Acceptor) -> None:
        """Judge by another model from now on; what was exercised so far does not count."""
        super().judge_by(acceptor)
        self._counted_before = acceptor.counts
        self.unsaid.clear()
        self.counts.clear()
        if self.openings is not None:
            self.openings.features = acceptor.features

    @property
    def exercised(self) -> Counter[str]:
        """The number of judgements of each clause so far."""
        return self.acceptor.counts + self.counts - self._counted_before

    def leaves_out(self, program: Program) -> bool:
        """Return whether the program is skipped."""
        return program in self._left_out

    def state_before(self, program: Program, index: int) -> State | None:
        """Return the state before the call at `index`, at which a program has stopped.

        None if it is not that of a plain stream.
        """
        if self._judged is None or self._judged[0] is not program:
            return None
        return self.acceptor.states(self._judged[1][program.steps[index].stream])[0]

    def run(self, program: Program, trace: bool = False, resume: bool = False) -> Execution:
        """Run a program on newly opened streams, and judge it up to its first failure.

        With `resume`, a program of plain streams is judged to its end: after a failure any position
        of the stream is allowed. A program that the network or a busy store failed runs again,
        since that says nothing of others. What is interrupted in the same call each time is judged,
        and nothing else that is interrupted. A call that was judged so is made twice from then on.
        """
        execution = self._run_once(program, trace, resume)
        each_time = execution.interrupted
        if execution.environment is None and not each_time:
            return execution
        for _ in range(1, INTERRUPTED_RUNS):
            execution = self._run_once(program, trace, resume)
            again = execution.interrupted
            each_time = {i: again[i] for i in again.keys() & each_time.keys()}
            alike = {(program.steps[i : i + 1], o.detail) for i, o in each_time.items()}
            if execution.environment is not None or not again:
                self.answered_again += execution.environment is None
                return execution
            if alike and alike <= self._interrupted:
                return execution
        self._interrupted |= alike
        execution.environment = None if each_time else next(iter(again.values()))
        return execution

    def _run_once(self, program: Program, trace: bool, resume: bool) -> Execution:
        if self._left_out and self.leaves_out(program):
            return Execution()
        begun, self.length = clock.monotonic(), program.length
        try:
            execution = self._run(program, trace, resume)
        except FileRefused:
            return Execution(refused=True)
        finally:
            self.seconds += clock.monotonic() - begun
        if execution.misreported is not None and execution.violation is None:
            execution.add(execution.misreported)
        return execution

    def _run(self, program: Program, trace: bool, resume: bool) -> Execution:
        if program.faults is not None:
            return self._run_under_faults(program)
        if program.opening is not None:
            return self._run_opening(program, trace)
        if program.at is not None:
            return self._run_at(program, program.at, trace)
        path, data, start = self.file(program.length)
        execution = Execution()
        self.programs += 1
        self.index = -1
        beat(program)
        changes = any(s.op == "change" for s in program.steps)
        if changes:
            execution.content = data = self.new_content(program.length, program)
            path, start = self.binding.create(data), self.acceptor.start(data)
        streams: list[Opened] = []
        self._open[id(streams)] = streams
        try:
            for _ in range(program.streams):
                streams.append(self.binding.open(path))
                self.opened += 1
        except TargetError:
            raise
        except Exception as error:
            self._failed_open(program, raised(error), execution, len(streams))
        else:
            nodes = [start] * len(streams)
            self._follow(program, path, data, streams, nodes, execution, trace, resume)
        finally:
            self.close(program, streams)
            if changes:
                self.forget(path)
            elif self._written:
                self._renew(program.length)
        return execution

    def _run_at(self, program: Program, at: OpenedPath, trace: bool) -> Execution:
        """Open an unusual path; a file is read like others, else the open or a read must fail."""
        execution = Execution()
        self.programs += 1
        self.index = -1
        beat(program)
        _, data, _ = self.file(program.length)
        execution.content = data = self.new_content(program.length, at)
        try:
            path = self.binding.place(at, data)
        except NoScene:
            execution.refused = True
            return execution
        streams: list[Opened] = []
        self._open[id(streams)] = streams
        try:
            streams.append(self.binding.open(path))
            self.opened += 1
        except TargetError:
            return execution  # for a directory, for example, it returns something other than a file
        except Exception as error:
            if at.is_file:
                self._failed_open(program, raised(error), execution)
            else:
                self._judge_at(program, at, _OPEN, raised(error), execution)
        else:
            if at.is_file:
                nodes = [self.acceptor.start(data)]
                self._follow(program, path, data, streams, nodes, execution, trace)
            else:
                self._probe_at(program, at, streams[0], execution)
        finally:
            self.close(program, streams)
        if at.is_file:
            self._charge_name(program, at, execution)
        return execution

    def _probe_at(self, program: Program, at: OpenedPath, stream: Opened, of: Execution) -> None:
        """Read from a stream that should not have been opened."""
        self._note_at(_OPEN, returned(), PathVerdict(), of)
        for probe in PROBES:
            if probe.op in self.binding.operations:
                outcome = self._act(program, stream, probe)
                if outcome.kind is not Kind.INEXPRESSIBLE:
                    self._judge_at(program, at, probe, outcome, of)
                    return

    def _judge_at(
        self, program: Program, at: OpenedPath, step: Step, outcome: Outcome, execution: Execution
    ) -> None:
        self.operations += 1
        if outcome.is_unanswered:
            execution.environment = outcome
            return
        judge = judge_open if step is _OPEN else judge_read
        said = judge(at.kind, self.acceptor.features, outcome)
        self._note_at(step, outcome, said, execution)
        self.counts.update(said.exercised)
        if said.failure is not None:
            execution.violation = Violation(program, -1, step, outcome, said.failure)
        for clause in said.missed:
            failure = Failure(clause, "", "should", (f"open raises {Kind.NOT_FOUND}",))
            execution.misses.append(Violation(program, -1, step, outcome, failure, missed=True))

    def _note_at(self, step: Step, outcome: Outcome, said: PathVerdict, of: Execution) -> None:
        of.trace.append((step, outcome, Judgement((), failure=said.failure)))

    def _charge_name(self, program: Program, at: OpenedPath, execution: Execution) -> None:
        """Charge a failure to the name of the file, unless an ordinary file fails as well."""
        clause, violation = CLAUSE_OF["named"], execution.violation
        if violation is None:
            self.counts[clause] += execution.environment is None
        elif self.run(replace(program, at=None)).violation is not None:
            execution.violation = None
        else:
            failure = Failure(clause, "", violation.failure.aspect, violation.failure.expected)
            execution.violation = replace(
                violation,
                program=program.with_steps(program.steps[: violation.index + 1]),
                index=-1,
                failure=failure,
                circumstances=(*violation.circumstances, name_circumstance(at.name)),
            )

    def _run_under_faults(self, program: Program) -> Execution:
        execution = Execution()
        self.programs += 1
        self.index = -1
        beat(program)
        assert program.faults is not None
        of_server = clause_of_server(program.faults.kinds)
        run = run_under_server_faults if of_server else run_under_faults
        self.counts.update(run(self, program, execution))
        return execution

    def _run_opening(self, program: Program, trace: bool) -> Execution:
        """Open through a builder, and run the calls on the streams if there are any."""
        path, data, _ = self.file(program.length)
        execution, openings = Execution(), self.openings
        self.programs += 1
        self.index = -1
        beat(program)
        if openings is None:
            return execution
        try:
            attempt = openings.attempt(program, path, data)
        except NoScene:
            execution.refused = True
            return execution
        streams = attempt.streams
        self._open[id(streams)] = streams
        try:
            if attempt.goes_on and attempt.case.readable:
                self._follow_opened(program, attempt, execution, trace)
            elif attempt.goes_on:
                openings.doomed(attempt, program.steps, partial(self._act, program, streams[0]))
        finally:
            self.close(program, streams)
            openings.remove(attempt)
        self.operations += len(attempt.trace)
        execution.trace[:0] = attempt.trace
        execution.environment = execution.environment or attempt.environment
        if attempt.failed is not None:
            execution.violation = stage_violation(program, *attempt.failed)
        violation = execution.violation
        if violation is not None:
            charged = openings.charge(violation, len(data), exchanged=False)
            execution.violation = replace(violation, origin=charged)
        elif execution.environment is None:
            self.counts.update(speaks_for(attempt.case))
        return execution

    def _follow_opened(
        self, program: Program, attempt: Attempt, execution: Execution, trace: bool
    ) -> None:
        start = self.acceptor.start(*attempt.contents)
        execution.content = attempt.contents[0]
        nodes = [start] * program.streams
        data = attempt.contents[0]
        self._follow(program, attempt.path, data, attempt.streams, nodes, execution, trace)
        violation = execution.violation
        if violation is None:
            return
        node = nodes[violation.step.stream]
        refused = judge_refused_read(attempt.case, violation.failure, violation.outcome)
        if (
            refused
            or self._is_end(attempt.case, node, violation)
            or self._is_beyond(attempt, node, violation)
            or self._is_other_seek(node, violation)
        ):
            execution.violation = None

    def _is_beyond(self, attempt: Attempt, node: int, violation: Violation) -> bool:
        """Return whether a call took another end of the file than the calls before it.

        Each call past a declared length may find data there, or the end.
        """
        case = attempt.case
        if case.declared is None or case.declared >= case.length:
            return False
        step = self.compile(violation.program.length, violation.step).step
        states = tuple(
            s._replace(versions=(data,))
            for s in self.acceptor.states(node)
            for data in attempt.contents
            if any(data.startswith(v) or v.startswith(data) for v in s.versions)
        )
        features = self.acceptor.features
        return judge_all(step.op, step.args, states, features, violation.outcome).failure is None

    def _is_other_seek(self, node: int, violation: Violation) -> bool:
        """Return whether a call is right if streams of `open` and of a builder differ in seeks.

        A filesystem that wraps another may override `open` alone; either may refuse a seek past
        the end.
        """
        step = self.compile(violation.program.length, violation.step).step
        features = self.acceptor.features ^ {_REJECTS}
        states = self.acceptor.states(node)
        return judge_all(step.op, step.args, states, features, violation.outcome).failure is None

    def _is_end(self, case: Case, node: int, violation: Violation) -> bool:
        """Return whether a read raised where it could have returned the end of the file."""
        step = self.compile(violation.program.length, violation.step).step
        outcome, features = violation.outcome, self.acceptor.features
        if ends_overstated_file(case, step, violation.failure, outcome):
            return True
        end = as_end(case, step, outcome)
        if step.op == "read_vectored" and is_overstated(case):
            # A stream that checks ranges early checks them against the declared length.
            end, features = outcome, features - {"vector-io-early-eof-check"}
        if end is None:
            return False
        states = self.acceptor.states(node)
        return judge_all(step.op, step.args, states, features, end).failure is None

    def _act(self, program: Program, stream: Opened, step: Step) -> Outcome:
        return self.compile(program.length, step).action(stream)

    def charge(self, violation: Violation, exchanged: bool) -> str:
        """Return the clause that a program with an opening violates (see `Openings.charge`)."""
        assert self.openings is not None
        _, data, _ = self.file(violation.program.length)
        return self.openings.charge(violation, len(data), exchanged)

    def close(self, program: Program, streams: Sequence[Opened]) -> None:
        """Close the streams of a program, or keep them open if that hangs.

        Those of a remote target are not kept: their connections would run out. Garbage may have
        other streams, which it closes when it is collected.
        """
        if self._left_out.open_streams:
            stop_collecting()
            for stream in () if self.binding.remote else streams:
                never_finalize(stream)
            self._open.pop(id(streams), None)
            return
        close = self.compile(program.length, _CLOSE).action
        if not is_abandoned():
            self.index = len(program.steps)
        for stream in streams:
            close(stream)
        self._open.pop(id(streams), None)

    def note_open(self, streams: Sequence[Opened]) -> None:
        """Note streams that are open until `close` is called with them."""
        self._open[id(streams)] = streams

    def keep_open(self) -> None:
        """Keep the streams that are open now, one of which hangs, until the process ends."""
        for streams in [*self._open.values()]:
            for stream in [*streams]:
                never_finalize(stream)

    def observe(self, program: Program) -> list[Outcome]:
        """Return the outcome of every call of a program of one stream, without judging it.

        Empty for a skipped program, and if the file can't be opened, which programs report.
        """
        if self._left_out and self.leaves_out(program):
            return []
        path, _, _ = self.file(program.length)
        self.index = -1
        beat(program)
        try:
            streams = [self.binding.open(path)]
        except TargetError:
            raise
        except Exception:
            return []
        self._open[id(streams)] = streams
        outcomes = []
        try:
            for self.index, step in enumerate(program.steps):
                outcomes.append(self.compile(program.length, step).action(streams[0]))
        finally:
            self.close(program, streams)
            if any(step.op == "py_write" for step in program.steps):
                self._renew(program.length)
        return outcomes

    def _follow(
        self,
        program: Program,
        path: str,
        data: bytes,
        streams: list[Opened],
        nodes: list[int],
        execution: Execution,
        trace: bool,
        resume: bool = False,
    ) -> None:
        step_of, judge = self.compile, self.acceptor.step
        length, stops = program.length, self._left_out.stops if self._left_out else None
        self._judged = program, nodes
        for index, source in enumerate(program.steps):
            self.index = index
            compiled = step_of(length, source)
            which = source.stream
            if source.op in OF_FILE:
                data = self._of_file(program, path, data, streams, nodes, execution)
                if execution.ended:
                    return
                continue
            if stops and stops(compiled.step, length, self.acceptor.states(nodes[which])):
                execution.trace.clear()  # as that of a program that did not run
                return
            outcome = compiled.action(streams[which])
            self.operations += 1
            self._written |= source.op == "py_write" and not outcome.raised
            if outcome.is_unanswered:
                execution.environment = outcome
            elif which in execution.doomed and self._must_fail(program, outcome, execution):
                continue
            if execution.environment is not None or which in execution.doomed:
                return
            node = nodes[which]
            transition = judge(node, compiled.number, compiled.step, outcome)
            judgement = transition.judgement
            if trace:
                execution.trace.append((source, outcome, judgement))
            if judgement.unsaid or judgement.missed:
                judged = compiled.step, self.acceptor.states(node)[0]
                self._keep_missed(program, index, judged, outcome, judgement, execution)
            nodes[which] = transition.target
            if which in execution.reopened:
                judgement = self._of_reopened(judgement)
            if judgement.failure is not None:
                step = compiled.step
                violation = self._violation(program, index, step, node, outcome, judgement)
                following = self._after_failure(violation, node, step, outcome, execution, resume)
                if following is None:
                    nodes[which] = node
                    return
                nodes[which] = following

    def _after_failure(
        self,
        violation: Violation,
        node: int,
        step: Step,
        outcome: Outcome,
        execution: Execution,
        resume: bool,
    ) -> int | None:
        """Keep a violation; return the node for the next call, None if the program ends here."""
        moved = self.acceptor.after_misreported_seek(node, step, outcome)
        if moved is not None:
            execution.misreported = execution.misreported or violation
            return moved
        execution.add(violation)
        return self.acceptor.resume(node, step.op) if resume else None

    def _violation(
        self,
        program: Program,
        index: int,
        step: Step,
        node: int,
        outcome: Outcome,
        judgement: Judgement,
    ) -> Violation:
        """Return the failure of a call; `step` has numbers for the anchors of the program's."""
        state = self.acceptor.states(node)[0]
        failure = judgement.failure
        assert failure is not None
        return Violation(
            program,
            index,
            program.steps[index],
            outcome,
            failure,
            origin=state.origin.op,
            placed=0 <= state.pos < state.longest,
            relation=relation(step, state, outcome, failure),
            circumstances=(
                *circumstances(state, self.buffer, step, failure),
                *details(step, state, outcome, failure),
            ),
            judged=(step, state),
        )

    def _keep_missed(
        self,
        program: Program,
        index: int,
        judged: tuple[Step, State],
        outcome: Outcome,
        judgement: Judgement,
        execution: Execution,
    ) -> None:
        """Keep what a call could not express, and the SHOULDs it missed unless one failed."""
        if judgement.unsaid:
            self.unsaid.update(judgement.unsaid, (str(judged[0]),))
        if execution.violation is None:
            execution.misses += self._missed(program, index, judged, outcome, judgement)

    def _missed(
        self,
        program: Program,
        index: int,
        judged: tuple[Step, State],
        outcome: Outcome,
        judgement: Judgement,
    ) -> Iterable[Violation]:
        for clause in judgement.missed:
            failure = Failure(clause, "", "should", judgement.expected)
            step = program.steps[index]
            yield Violation(program, index, step, outcome, failure, missed=True, judged=judged)

    def _failed_open(
        self, program: Program, outcome: Outcome, execution: Execution, beside: int = 0
    ) -> None:
        """Judge an open that raised; `beside` is the number of streams that the program has open.

        A store may limit how many are open at once: no document says how many there can be.
        """
        if beside >= _STREAMS and (outcome.kind is Kind.IO or outcome.is_unanswered):
            execution.refused = True
            self.stream_limit = f"no more than {beside} streams were open at once: {outcome}"
            return
        if outcome.is_unanswered:
            execution.environment = outcome
            return
        failure = Failure("open.state", "", "raised", ("opens",))
        if execution.content is None:  # else the calls make the content
            program = program.with_steps(())
        execution.violation = Violation(program, -1, _OPEN, outcome, failure)

    def _of_file(
        self,
        program: Program,
        path: str,
        data: bytes,
        streams: list[Opened],
        nodes: list[int],
        execution: Execution,
    ) -> bytes:
        """Change the file, or open its path again; return its content afterwards."""
        step = program.steps[self.index]
        if step.op == "change":
            try:
                data = self._change(path, data, step.args[0], nodes)
            except NoScene:
                execution.ended = True
            else:
                execution.is_changed, execution.is_deleted = True, step.args[0] == "delete"
            return data
        which, index = step.stream, self.index
        self.close(program, [streams[which]])
        self.index = index
        try:
            streams[which] = self.binding.open(path)
            self.opened += 1
        except Exception as error:
            self._not_reopened(program, raised(error), execution)
            return data
        nodes[which] = self.acceptor.start(data)
        if execution.is_changed:
            execution.reopened.add(which)
        if execution.is_deleted:
            execution.doomed.add(which)
        return data

    def _not_reopened(self, program: Program, outcome: Outcome, execution: Execution) -> None:
        """Judge an open that raised after a change: only a deleted file can't be opened."""
        execution.ended = True
        if outcome.is_unanswered:
            execution.environment = outcome
        elif execution.is_deleted:
            self.counts[_REOPENED] += 1
        else:
            clause = _REOPENED if execution.is_changed else "open.state"
            failure = Failure(clause, "", "raised", ("opens",))
            step = program.steps[self.index]
            execution.add(Violation(program, self.index, step, outcome, failure))

    def _must_fail(self, program: Program, outcome: Outcome, execution: Execution) -> bool:
        """Judge a call on a stream that was opened after its file had been deleted.

        An open may leave it to the first read to notice that. Return whether the program continues.
        """
        step = program.steps[self.index]
        if outcome.kind is Kind.INEXPRESSIBLE:
            return True
        if outcome.raised:
            self.counts[_REOPENED] += 1
            return False
        if step.op not in READ_OPERATIONS or outcome.value == 0 or _asks_nothing(step):
            return True
        failure = Failure(_REOPENED, "", "accepted", ("raises IO: the file was deleted",))
        execution.add(Violation(program, self.index, step, outcome, failure))
        return False

    def _of_reopened(self, judgement: Judgement) -> Judgement:
        """Return the judgement of a call on a stream that was opened after a change."""
        failure = judgement.failure
        if failure is None:
            self.counts[_REOPENED] += bool(judgement.exercised)
            return judgement
        return judgement._replace(failure=failure._replace(clause=_REOPENED, cause="", also=()))

    def _change(self, path: str, data: bytes, how: str, nodes: list[int]) -> bytes:
        """Change the file under the open streams; return its content afterwards.

        Raise NoScene if the store refuses the change.
        """
        new = changed_content(data, how)
        if how == "replace":
            self.binding.change(path, None)
        self.binding.change(path, new)
        for i, node in enumerate(nodes):
            nodes[i] = self.acceptor.change(node, new)
        return data if new is None else new

    def _renew(self, length: int) -> None:
        """Replace the shared file, after a program could write to it."""
        self._written = False
        if self.binding.fixed_content is None:
            data = self.new_content(length, self.programs)
            self._renewed.add(length)
            self._files[length] = self.binding.create(data), data, self.acceptor.start(data)


def _asks_nothing(step: Step) -> bool:
    """Return whether a read of a Python file asks for no bytes."""
    return step.op.startswith("py_") and 0 in step.args


#: The feature of streams that refuse a seek past the end of the file.
_REJECTS = "rejects-seek-past-eof"
#: The clause of streams that are opened after a change.
_REOPENED = "consistency.opened"
#: Every program ends by closing its streams; the same object, so that it is compiled once.
_CLOSE = Step("close")
_OPEN = Step("open")
