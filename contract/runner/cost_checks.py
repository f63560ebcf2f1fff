"""Check the cost of opening and reading a file, by the target's own I/O statistics.

A clause with a cost has one program, which is run without a read policy and with each. Only the
increase of the counters counts, so that other streams have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fscontract.contract.api.iostatistics import METERS, meter, names_in
from fscontract.contract.api.openfile_options import READ_POLICY
from fscontract.contract.binding import Action, NoScene, Opened, Opener, TargetError
from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import OF_COSTS, content
from fscontract.contract.program.open_calls import BuilderCall, Opening
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.execution import FileRefused
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import UNCOUNTED, Counterexample
from fscontract.contract.runner.signature import bytes_of
from fscontract.contract.runner.timeouts import beat
from fscontract.contract.spec.clauses import Clause, Cost

#: The key of a budget for opens without a read policy, and for policies not listed.
_DEFAULT = "default"
_CLOSE, _READ = Step("close"), Step("read_byte")
#: The unit of each meter: singular and plural.
_WORDS = {
    "probes": ("probe", "probes"),
    "opens": ("open", "opens"),
    "held": ("descriptor or connection held", "descriptors or connections held"),
    "requests": ("request", "requests"),
    "bytes": ("byte from the store", "bytes from the store"),
    "returned": ("byte returned", "bytes returned"),
}


class CostVerdict(NamedTuple):
    """The result for one clause."""

    clause: str
    #: The number of measured policies.
    exercised: int = 0
    counterexample: Counterexample | None = None
    #: True if the API lacks a call of the program, or I/O statistics.
    unsaid: bool = False
    #: The message of an error of the network or the set-up, after which the clause was skipped.
    environment: str = ""
    #: Whether the time was over before all policies were measured.
    cut_short: bool = False


class _Measured(NamedTuple):
    """The cost of one run of a program; None if it did not complete, or without counters."""

    reading: int | None = None
    #: The increase of the meter.
    counters: Mapping[str, int] = MappingProxyType({})
    unsaid: bool = False
    environment: str = ""
    #: True if the meter has no counter, although the API has I/O statistics.
    uncounted: bool = False
    #: The number of bytes that the measured calls returned.
    returned: int = 0


def check_costs(
    executor: Executor,
    opener: Opener,
    clauses: Iterable[Clause],
    budgets: Mapping[str, Mapping[str, int]],
    policies: Sequence[str],
    has_time_for: Callable[[int], bool] = lambda calls: True,
) -> Iterator[CostVerdict]:
    """Measure each clause that has a cost, up to its first counterexample.

    `budgets` are the profile's: one with a "default" replaces the clause's, another one only what
    it lists. A call that raises is a matter of other clauses, and tells nothing of the cost. A
    program is run if `has_time_for` its calls returns True.

    Raises TargetError if the target can't be written.
    """
    for clause in clauses:
        if clause.cost is not None:
            budget = budget_of(clause, budgets)
            yield _check(executor, opener, clause, clause.cost, budget, policies, has_time_for)


def replay_cost(
    executor: Executor,
    opener: Opener,
    clause: Clause,
    program: Program,
    budgets: Mapping[str, Mapping[str, int]],
) -> Counterexample | None:
    """Measure a program that `check_costs` showed again; None if it keeps its budget.

    ProgramError if the clause has another program, TargetError if it could not be measured.
    """
    cost, policy = clause.cost, _policy_of(clause, program)
    budget = budget_of(clause, budgets)
    fits = cost is not None and program == cost_program(cost, policy)
    if cost is None or not fits or _entry(budget, policy) not in budget:
        raise ProgramError(f"{clause.id}: the program is not one whose cost it bounds")
    measured = _measure(executor, opener, cost, program)
    if measured.reading is None and not measured.uncounted:
        why = measured.environment or "the program raised, or its cost is not counted"
        raise TargetError(f"{executor.binding.name}: {clause.id} can't be measured: {why}")
    return _judge(cost, budget, policy, program, measured)


def cost_program(cost: Cost, policy: str | None) -> Program:
    """Return the program for a read policy, or for none."""
    chosen: tuple[BuilderCall, ...] = () if policy is None else (("opt", READ_POLICY, policy),)
    steps = (*(cost.before or ()), *cost.steps)
    return Program(cost.length, steps, opening=Opening("file", cost.calls + chosen))


def budget_of(clause: Clause, budgets: Mapping[str, Mapping[str, int]]) -> Mapping[str, int]:
    """Return the budget of a clause by policy, with the overrides of the profile."""
    own = clause.cost.budget if clause.cost is not None else {}
    declared = budgets.get(clause.id, {})
    return declared if _DEFAULT in declared else {**own, **declared}


def _policy_of(clause: Clause, program: Program) -> str | None:
    """Return the policy of a clause's program."""
    calls = program.opening.calls if program.opening is not None else ()
    added = calls[len(clause.cost.calls) :] if clause.cost is not None else ()
    return str(added[-1][-1]) if added else None


def _check(
    executor: Executor,
    opener: Opener,
    clause: Clause,
    cost: Cost,
    budget: Mapping[str, int],
    policies: Sequence[str],
    has_time_for: Callable[[int], bool],
) -> CostVerdict:
    exercised, unsaid = 0, False
    for policy in _tried(budget, policies):
        program = cost_program(cost, policy)
        if not has_time_for(len(program.steps)):
            return CostVerdict(clause.id, exercised, cut_short=True)
        measured = _measure(executor, opener, cost, program)
        if cost.exact and measured.returned != budget[_entry(budget, policy)]:
            measured = measured._replace(reading=None)
        if measured.environment:
            return CostVerdict(clause.id, exercised, environment=measured.environment)
        unsaid = unsaid or measured.unsaid
        exercised += measured.reading is not None or measured.uncounted
        counterexample = _judge(cost, budget, policy, program, measured)
        if counterexample is not None:
            return CostVerdict(clause.id, exercised, counterexample)
    return CostVerdict(clause.id, exercised, unsaid=unsaid and not exercised)


def _tried(budget: Mapping[str, int], policies: Sequence[str]) -> list[str | None]:
    """Return the policies of a budget, starting with none."""
    if _DEFAULT in budget:
        return [None, *dict.fromkeys((*policies, *budget))]
    return [*budget]


def _entry(budget: Mapping[str, int], policy: str | None) -> str:
    """Return the key of the budget for a policy."""
    return policy if policy is not None and policy in budget else _DEFAULT


def _judge(
    cost: Cost, budget: Mapping[str, int], policy: str | None, program: Program, measured: _Measured
) -> Counterexample | None:
    """Return a counterexample if the meter exceeds or misses its budget, or counts nothing."""
    if measured.uncounted:
        telling = f"counts {_WORDS[cost.meter][1]}: {' or '.join(METERS[cost.meter][0])}"
        return Counterexample(program, (telling,), "no such counter", how=UNCOUNTED)
    reading, allowed = measured.reading, budget[_entry(budget, policy)]
    if reading is None or reading == allowed or (reading < allowed and not cost.exact):
        return None
    limit = "exactly" if cost.exact else "at most"
    under = "" if policy is None else f" with policy {policy}"
    parts = [f"{name} {rise}" for name, rise in measured.counters.items() if rise]
    return Counterexample(
        program,
        (f"{limit} {_count(allowed, cost.meter)}{under}",),
        _count(reading, cost.meter) + (f" ({', '.join(parts)})" if parts else ""),
        how=f"cost: {cost.meter}",
    )


def _count(number: int, name: str) -> str:
    one, several = _WORDS[name]
    return f"{number} {one if number == 1 else several}"


def _measure(executor: Executor, opener: Opener, cost: Cost, program: Program) -> _Measured:
    """Run a program on a new file, which no cache contains."""
    if not {s.op for s in program.steps} <= executor.binding.operations:
        return _Measured(unsaid=True)
    fixed = executor.binding.fixed_content
    if fixed is not None and len(fixed) != cost.length:
        return _Measured()
    if executor.leaves_out(program):
        return _Measured()
    beat(program)
    executor.programs += 1
    executor.index = -1
    try:
        shared, _, _ = executor.file(cost.length)
        path = shared if fixed is not None else opener.place("file", content(cost.length, OF_COSTS))
        return _Run(executor, opener, cost).measure(path, program)
    except NoScene:
        return _Measured(unsaid=True)
    except FileRefused:
        return _Measured()
    except TargetError:
        raise
    except Exception as error:  # any exception of the API: its correctness is not judged here
        return _ended(opener.outcome(error))


class _Run:
    """One run of a program, and the increase of its meter's counters."""

    def __init__(self, executor: Executor, opener: Opener, cost: Cost) -> None:
        self._executor = executor
        self._opener = opener
        self._cost = cost
        self._returned = 0

    def measure(self, path: str, program: Program) -> _Measured:
        """Open, make the calls and close; exceptions of the builder pass."""
        cost, opener = self._cost, self._opener
        # Statuses are fetched, and calls are bound, before anything is counted.
        calls = self._with_statuses(path, program)
        before, steps = self._actions(cost.before or ()), self._actions(cost.steps)

        start = dict(opener.counters(None))
        stream = self._open(path, calls)
        try:
            stopped = self._act(stream, before)
            if cost.before is not None and cost.meter != "held":  # what is held, is from the start
                start = dict(opener.counters(stream))
            self._returned = 0
            stopped = stopped or self._act(stream, steps)
            if stopped is not None:
                return _ended(stopped)
            end = dict(opener.counters(stream))
        finally:
            self._executor.close(program, (stream,))
        measured = self._read_off(start, end, end)
        if measured.reading is None and opener.statistics:
            measured = self._read_off(start, end, self._counters_of_a_read(path))
            return measured._replace(unsaid=False, uncounted=measured.reading is None)
        return measured

    def _read_off(
        self, start: Mapping[str, int], end: Mapping[str, int], known: Mapping[str, int]
    ) -> _Measured:
        """Return what the counters that are `known` rose by."""
        meter_of = self._cost.meter
        names = names_in(meter_of, known)
        rise = {name: end.get(name, 0) - start.get(name, 0) for name in names}
        reading = meter(meter_of, rise)
        return _Measured(reading, rise, unsaid=reading is None, returned=self._returned)

    def _counters_of_a_read(self, path: str) -> Mapping[str, int]:
        """Return the counters after the file was looked up, opened and read.

        A counter may be there only once it has counted something.
        """
        binding = self._executor.binding
        binding.status_length(path)
        stream = self._open(path, ())
        try:
            self._act(stream, self._actions([_READ] if _READ.op in binding.operations else []))
            return dict(self._opener.counters(stream))
        finally:
            self._act(stream, self._actions((_CLOSE,)))

    def _actions(self, steps: Sequence[Step]) -> list[tuple[Step, Action]]:
        return [(s, self._executor.compile(self._cost.length, s).action) for s in steps]

    def _act(self, stream: Opened, actions: Sequence[tuple[Step, Action]]) -> Outcome | None:
        """Make calls and count the bytes they return; return the first outcome that raised."""
        for step, action in actions:
            self._executor.index += 1
            self._executor.operations += 1
            outcome = action(stream)
            if outcome.raised:
                return outcome
            if step.op in READ_OPERATIONS:
                self._returned += len(bytes_of(step, opened(b""), outcome) or b"")
        return None

    def _open(self, path: str, calls: Sequence[BuilderCall]) -> Opened:
        builder = self._opener.open_file(path)
        for call in calls:
            builder = self._opener.call(builder, call)
        return self._opener.get(self._opener.build(builder))

    def _with_statuses(self, path: str, program: Program) -> list[BuilderCall]:
        assert program.opening is not None
        resolved = program.opening.resolved(program.length, self._executor.buffer)
        return [self._opener.ready(path, call) for call in resolved.calls]


def _ended(outcome: Outcome) -> _Measured:
    """Return the result of a program that did not complete."""
    if outcome.is_unanswered:
        return _Measured(environment=str(outcome))
    return _Measured(unsaid=outcome.kind is Kind.INEXPRESSIBLE)
