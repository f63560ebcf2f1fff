"""Run the program of a replay file again."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.concurrency.check import replay_schedule
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.program import Program
from fscontract.contract.runner import resource_checks
from fscontract.contract.runner.cost_checks import replay_cost
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples, counterexample
from fscontract.contract.runner.execution import Execution, Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.open_executor import Keys
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.sandbox import SandboxedBinding
from fscontract.contract.runner.timeouts import Next, held_back, supervise, work_here
from fscontract.contract.runner.tracebacks import recorded
from fscontract.contract.script.failure import TRIES, Failure, failure_of
from fscontract.contract.spec.clauses import clauses, notice, read_id
from fscontract.contract.spec.profiles import Profile, ProfileError
from fscontract.contract.untrusted import short

_TIMEOUT = 10.0
#: The maximum of programs before the one that fails.
_MAX_BEFORE = 1000


@dataclass(frozen=True)
class ReplayResult:
    """The result of a replay: `outcome` is "still fails", "passes now" or "fails otherwise"."""

    clause: str
    outcome: str
    actual: str
    expected: tuple[str, ...]
    #: Each call with its outcome, up to the failing one.
    trace: tuple[str, ...] = ()
    #: The calls or the condition of a scenario of a part of a pipeline.
    scenario: str = ""


def replay(
    binding: Binding,
    data: dict[str, Any],
    profile: Profile,
    running: AbstractContextManager[None] | None = None,
) -> ReplayResult:
    """Run the program in `data`, the content of a replay file, on a binding.

    The binding is prepared and disposed of. The program is run inside of `running`. Raise
    ProgramError for invalid data.
    """
    clause, program = validated(data)
    profile = _as_it_was(profile, data)
    buffer = _buffer(binding, profile, data)
    binding = SandboxedBinding(binding, _TIMEOUT)
    binding.prepare()
    try:
        with running or nullcontext():
            if program is None:
                return _run_threads(binding, profile.features, buffer, clause, data["threads"])
            keys = Keys(profile.own_keys, profile.unsupported_keys)
            executor = Executor(binding, profile.features, buffer, keys)
            if clauses()[clause].cost is not None and program.opening is not None:
                return _measure(executor, clause, program, profile)
            for _ in range(TRIES if data.get("intermittent") is True else 1):
                result = _run(executor, clause, program, earlier(data), profile.one_thread)
                if result.outcome != "passes now":
                    break
            return result
    finally:
        with held_back():
            binding.dispose()


def exception_of(
    binding: Binding, failure: Counterexample, profile: Profile, buffer: int
) -> BaseException | None:
    """Run the program of a failure again, and return what its failing call raises, if it does.

    The exception has its traceback, with the frames of the target. The binding is prepared and
    disposed of.
    """
    program = failure.program
    if program is None or not failure.traceback:
        return None
    binding = SandboxedBinding(binding, _TIMEOUT)
    binding.prepare()
    try:
        keys = Keys(profile.own_keys, profile.unsupported_keys)
        executor = Executor(binding, profile.features, buffer, keys)
        with recorded(lambda: executor.index) as raised:
            executor.run(program)
        return raised.exception(failure.step - 1)
    finally:
        binding.dispose()


def failure_in(binding: Binding, data: dict[str, Any], profile: Profile) -> Failure:
    """Return the failure in `data` as scripts show it; raise NoScript, ProgramError."""
    clause, program = validated(data)
    profile = _as_it_was(profile, data)
    buffer = _buffer(binding, profile, data)
    shown_by = program or Schedule.from_json(data["threads"])
    return replace(
        failure_of(shown_by, clause, binding, profile, buffer),
        before=earlier(data),
        hangs=data.get("hangs") is True,
        intermittent=data.get("intermittent") is True,
    )


def validated(data: dict[str, Any], where: str = "replay file") -> tuple[str, Program | None]:
    """Return the clause and the program of a replay file, None for a schedule or a scenario.

    Raise ProgramError; its message begins with `where`.
    """
    if data.get("fscontract-replay") != 1:
        raise ProgramError(
            f"{where}: not a replay file: expected the key 'fscontract-replay' with 1"
        )
    clause = data.get("clause")
    clause = read_id(clause) if isinstance(clause, str) else clause
    if not isinstance(clause, str) or clause not in clauses():
        said = notice(str(clause)) or f"unknown clause {short(clause)}"
        raise ProgramError(f"{where}: {said}")
    earlier(data, where)
    if "scenario" in data:
        if not isinstance(data["scenario"], str) or type(data.get("seed")) is not int:
            raise ProgramError(f"{where}: scenario must be a string, and seed a number")
        return clause, None
    if "threads" not in data:
        return clause, Program.from_json(data.get("program"), where)
    Schedule.from_json(data["threads"], where)
    return clause, None


def earlier(data: dict[str, Any], where: str = "replay file") -> tuple[Program, ...]:
    """Return the programs that run before the one of a replay file. Raise ProgramError."""
    programs = data.get("before", [])
    if not isinstance(programs, list) or len(programs) > _MAX_BEFORE:
        raise ProgramError(f"{where}: before must be a list of at most {_MAX_BEFORE} programs")
    return tuple(
        Program.from_json(program, f"{where}: before {number}")
        for number, program in enumerate(programs, 1)
    )


def _run_threads(
    binding: Binding, features: frozenset[str], buffer: int, clause: str, schedule: Any
) -> ReplayResult:
    result = replay_schedule(binding, features, schedule, buffer)
    counterexample = result.counterexample
    actual = "a serial order fits" if counterexample is None else counterexample.actual
    expected = () if counterexample is None else counterexample.expected
    outcome = {None: "passes now", clause: "still fails"}.get(result.clause, "fails otherwise")
    return ReplayResult(clause, outcome, actual, expected, result.interleaving)


def _as_it_was(profile: Profile, data: dict[str, Any]) -> Profile:
    """Return the profile with the features that the failed run declared, if the file has them."""
    declared = data.get("features")
    if declared is None:
        return profile.as_observed({})
    if not isinstance(declared, list) or not all(isinstance(f, str) for f in declared):
        raise ProgramError("replay file: features must be a list of names")
    try:
        return replace(profile, features=frozenset()).with_features(declared)
    except ProfileError as error:
        raise ProgramError(f"replay file: {error}") from None


def _buffer(binding: Binding, profile: Profile, data: dict[str, Any]) -> int:
    buffer = data.get("buffer", profile.buffer or binding.buffer)
    if type(buffer) is not int or not 0 < buffer <= 1 << 26:
        raise ProgramError(f"replay file: buffer must be 1 to {1 << 26}, got {buffer!r}")
    return buffer


def _measure(executor: Executor, clause: str, program: Program, profile: Profile) -> ReplayResult:
    opener = executor.binding.opener
    if opener is None:
        raise TargetError(f"{executor.binding.name}: the API has no builder")
    counterexample = replay_cost(executor, opener, clauses()[clause], program, profile.budgets)
    if counterexample is None:
        return ReplayResult(clause, "passes now", "within its budget", ())
    return ReplayResult(clause, "still fails", counterexample.actual, counterexample.expected)


def _run(
    executor: Executor,
    clause: str,
    program: Program,
    before: tuple[Program, ...] = (),
    one_thread: bool = False,
) -> ReplayResult:
    done: list[Execution] = []
    hung: list[Program] = []
    items = (*before, program)

    def work(item: Program) -> None:
        done.append(executor.run(item, trace=True))

    def on_hang(item: object, times: int) -> Next:
        hung.append(program)
        return Next.END

    if one_thread:
        work_here(iter(items), work, lambda thread: _TIMEOUT)
    else:
        supervise(iter(items), work, _TIMEOUT, on_hang)
    if hung:
        return ReplayResult(clause, "still fails", "still running", (f"ends in {_TIMEOUT:g} s",))
    execution = done[-1]
    trace = tuple(f"{step} -> {outcome}" for step, outcome, _ in execution.trace)
    examiner = ShrinkingCounterexamples(executor, frozenset({clause}))
    if clause == "close.release":
        return _leaks(executor, program, trace)
    violation = _of_clause(execution, clause, examiner)
    if violation is not None:
        failing = counterexample(violation)
        return ReplayResult(clause, "still fails", failing.actual, failing.expected, trace)
    if execution.violation is not None:
        failing = counterexample(execution.violation)
        return ReplayResult(clause, "fails otherwise", failing.actual, failing.expected, trace)
    last = str(execution.trace[-1][1]) if execution.trace else "nothing was called"
    return ReplayResult(clause, "passes now", last, (), trace)


def _leaks(executor: Executor, program: Program, trace: tuple[str, ...]) -> ReplayResult:
    left = resource_checks.grows(lambda: executor.run(program))
    with suppress(resource_checks.CannotOpen):
        left = left or resource_checks.held(executor, program)
    outcome = "still fails" if left else "passes now"
    actual = f"left {left}" if left else "nothing is left open"
    return ReplayResult("close.release", outcome, actual, ("nothing is left open",), trace)


def _of_clause(
    execution: Execution, clause: str, examiner: ShrinkingCounterexamples
) -> Violation | None:
    """Return the violation of this clause in the execution, if there is one."""
    missed = [m for m in execution.misses if m.failure.clause == clause]
    if missed:
        return missed[0]
    violation = execution.violation
    if violation is None:
        return None
    if violation.failure.clause == clause:
        return violation
    return violation if examiner.violation(violation) == clause else None
