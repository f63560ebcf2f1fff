"""Phases of a run, in their order: sources of programs, then checks that run programs themselves.

A phase is a function of the run's context. In a shard of a run it runs that shard's part.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import TargetError
from fscontract.contract.concurrency import check_concurrency
from fscontract.contract.concurrency.check import OVERLAP, ConcurrencyReport
from fscontract.contract.concurrency.programs import of_same_families
from fscontract.contract.concurrency.verdict import NO_ORDER
from fscontract.contract.distributed.partial_results import Family
from fscontract.contract.generate import (
    boundaries,
    buffers,
    call_counts,
    call_sequences,
    fault_programs,
    filesystem_calls,
    first_programs,
    hypothesis_search,
    large_numbers,
    open_programs,
    range_lists,
    sizes,
)
from fscontract.contract.generate.vectors import Vector, telling_first, vectors
from fscontract.contract.models.acceptor import TABLES, chargeable
from fscontract.contract.program.faults import CHECKED
from fscontract.contract.program.program import OF_FILE, Program, Step, resolve_step
from fscontract.contract.program.server_faults import clause_of_server
from fscontract.contract.runner import concurrent_fault_check
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.cost_checks import check_costs
from fscontract.contract.runner.counterexamples import Counterexamples
from fscontract.contract.runner.measured_reads import (
    OF_POLICY,
    OF_VECTORED,
    learned,
    pace_of_reads,
    reads_whole_files,
)
from fscontract.contract.runner.program_check import check_program, leaks_in
from fscontract.contract.runner.resource_checks import (
    MAX_CALLS,
    STATUS,
    InTime,
    check_growth,
    check_held,
    check_length,
    check_unbuffer,
    held_programs,
)
from fscontract.contract.runner.result import PhaseShare
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.time_budget import TimeBudget
from fscontract.contract.runner.timeout_policy import run_check, run_items
from fscontract.contract.spec.clauses import Clause
from fscontract.contract.spec.known_failures import absent

Item: TypeAlias = Program | Vector
Waiting = TypeVar("Waiting")
#: The time limit for counting the programs that were not run, in seconds.
_COUNTING = 0.2
#: The largest boundary that is crossed with all read policies, in bytes.
_LARGEST_FOR_POLICIES = 1 << 20
#: Consecutive programs of a part of a run, so that it judges most calls from its cache.
_BLOCK = 32


class Phase(NamedTuple):
    """A phase; `total` is the number of its programs, None if unknown before.

    `run` returns True if no program is left. Otherwise the phase can be resumed.
    """

    name: str
    total: int | None
    run: Callable[[RunContext], bool]
    #: The programs that were not run yet.
    programs: Iterator[Item] = iter(())

    def share(self, done: int) -> PhaseShare:
        """Return how much of the phase was run; counting the rest does not take long."""
        total = self.total
        if total is None:
            counting = TimeBudget(_COUNTING)
            rest = itertools.takewhile(lambda _: not counting.is_over, self.programs)
            total = done + sum(1 for _ in rest)
        return PhaseShare(self.name, done, total)


class _Queue(Iterator[Waiting]):
    """Programs or clauses that are still to be run; one that was taken can be put back."""

    def __init__(self, items: Iterator[Waiting]) -> None:
        self._items = items
        self._back: list[Waiting] = []

    def __next__(self) -> Waiting:
        return self._back.pop() if self._back else next(self._items)

    def put_back(self, item: Waiting) -> None:
        """Make an item the next one again."""
        self._back.append(item)

    @property
    def has_back(self) -> bool:
        """Whether one was put back."""
        return bool(self._back)


#: The phase from which on there are other files of the same lengths.
_RENEWED = "seeded"


class _Source(NamedTuple):
    """Programs of one phase, or rows of which programs are made."""

    name: str
    total: int | None
    items: Iterator[Item] | Iterator[call_sequences.Row]


def absent_phases(context: RunContext) -> frozenset[str]:
    """Return the phases that have nothing to run for this target and these settings."""
    binding, settings = context.binding, context.settings
    profile, checks, fails = settings.profile, settings.checks, binding.injector is not None
    is_fixed, opens = binding.fixed_content is not None, binding.opener is not None
    has = {
        "blocks": binding.block not in (None, context.buffer),
        "changes": bool(binding.changes) and not is_fixed and checks("consistency"),
        "paths": checks("path"),
        "openings": opens and profile.has("supports-openfile") and checks("openfile"),
        "faults": fails and settings.faults is not None and checks("faults"),
        "server faults": fails and bool(settings.server_faults) and checks("servers"),
        "status": checks("status") and STATUS not in _crashed_outside_programs(settings),
        "resources": checks("resources"),
        "growth": checks("resources") and not context.gets_few,
        "costs": checks("cost") and opens,
        "threads under faults": settings.faults is not None and checks("faults"),
        "concurrency": checks("concurrency"),
    }
    threads = {"threads under faults", "concurrency"} if profile.one_thread else set()
    return frozenset(name for name, runs in has.items() if not runs) | threads


# Programs -------------------------------------------------------------------------------------


def program_phases(context: RunContext) -> Iterator[Phase]:
    """Yield the phases that run programs, without programs that exercise no selected clause.

    A target whose calls cost round trips, or that leaks often, gets fewer programs.
    """
    binding, settings = context.binding, context.settings
    shard, seed, block = settings.shard, settings.seed, 1 if binding.remote else _BLOCK
    for name, total, items in _sources(context):
        if name == _RENEWED:
            context.executor.renew_files()
        dealt = items if shard is None else shard.deal(name, seed, items, block)
        programs = _Queue(_relevant(map(_program, dealt), context))
        yield Phase(name, total, partial(_run_programs, programs=programs), programs)


def _run_programs(context: RunContext, programs: _Queue[Item]) -> bool:
    """Run programs until there is none left, or no time; return whether none is left."""

    def in_time() -> Iterator[Item]:
        for item in programs:
            program = item.program if isinstance(item, Vector) else item
            if not context.has_time_for(len(program.steps)):
                programs.put_back(item)
                return
            yield item

    run_items(context, in_time(), partial(check_program, context))
    return not programs.has_back


def _program(item: Item | call_sequences.Row) -> Item:
    """Return the program of a row; a program or an example unchanged."""
    return Program(*item) if type(item) is tuple else item  # type: ignore[return-value]


def _sources(context: RunContext) -> Iterator[_Source]:
    """Yield the sources of programs; each is made when the phases before it have run."""
    binding, settings = context.binding, context.settings
    if settings.shard is not None and settings.shard.unseen:
        yield from _of_known(context, settings.shard.unseen)
        return
    operations, buffer, absent = context.operations, context.buffer, absent_phases(context)
    effort, fixed = settings.effort, binding.fixed_content
    only = None if fixed is None else len(fixed)
    yield _Source("vectors", None, _examples(context, only))
    quick = call_sequences.short_programs(operations, buffer, "quick", only)
    if context.gets_few:
        yield _sampled("exhaustive", quick, call_sequences.REMOTE_PROGRAMS[effort], settings)
    elif context.is_slow:
        telling = call_sequences.shuffled(quick, settings.seed)
        yield _Source("exhaustive", len(telling), iter(telling))
    else:
        enumerated = call_sequences.short_rows(operations, buffer, effort, only)
        yield _Source("exhaustive", None, enumerated)
    into = buffers.programs(operations, context.gets_few, only)
    into += call_sequences.capability_programs(operations, only)
    yield _Source("buffers", len(into), iter(into))
    beside = filesystem_calls.programs(operations, context.gets_few, fixed, settings.seed)
    yield _Source("filesystem", len(beside), iter(beside))
    total = call_sequences.RANDOM_PROGRAMS[effort]
    total = max(20, total // 50) if context.gets_few else total
    source = call_sequences.random_programs(operations, buffer, effort, settings.seed, only)
    yield _Source("seeded", total, itertools.islice(source, total))
    if binding.block is not None and "blocks" not in absent:
        around = boundaries.block_programs(
            operations, binding.block, effort, settings.seed, context.gets_few, only
        )
        yield _Source("blocks", len(around), iter(around))
    yield from _far_sources(context, only)
    if "changes" not in absent:
        yield _Source(
            "changes", None, fault_programs.change_programs(operations, binding.changes, effort)
        )
    if "paths" not in absent:
        paths = open_programs.path_programs(operations, context.gets_few, fixed is not None)
        yield _Source("paths", len(paths), iter(paths))
    yield from _openings(context, only)
    yield from _failing(context, only)
    yield from _of_known(context, unseen(settings, binding.name, context.counterexamples))


def _examples(context: RunContext, only: int | None) -> Iterator[Item]:
    """Yield examples, and the first programs of a slow target once examples show that it is one."""
    settings, operations = context.settings, context.operations
    declared = [c for c in settings.clauses if not settings.profile.satisfies(c.needs)]
    first = first_programs.programs(operations, only)
    for example in telling_first(vectors(declared, operations, only)):
        yield example
        if context.is_slow:
            yield from first
            first = []


def _of_known(context: RunContext, programs: Sequence[Program]) -> Iterator[_Source]:
    """Yield the source of programs of known failures, which are kept unshrunk."""
    if programs:
        with context.counterexamples.taken_unshrunk():
            yield _Source("known failures", len(programs), iter(programs))


def _failing(context: RunContext, only: int | None) -> Iterator[_Source]:
    """Yield the sources of programs during which requests fail, or a server misbehaves."""
    binding, settings = context.binding, context.settings
    operations, buffer, seed = context.operations, context.buffer, settings.seed
    injector, faults, absent = binding.injector, settings.faults, absent_phases(context)
    if injector is not None and faults is not None and "faults" not in absent:
        kinds = injector.kinds & CHECKED
        if not settings.profile.has("supports-deadlines"):
            kinds -= {"hang"}
        failing = fault_programs.programs(operations, kinds, buffer, faults, seed, only)
        if context.gets_few:
            drawn = fault_programs.drawn(failing, faults, seed)
            yield _Source("faults", len(drawn), iter(drawn))
        else:
            yield _Source("faults", None, failing)
    if injector is not None and "server faults" not in absent:
        every = fault_programs.server_fault_programs(
            operations, injector.kinds, buffer, settings.effort, seed
        )
        selected = settings.selected
        served = [p for p in every if p.faults and clause_of_server(p.faults.kinds) in selected]
        yield _Source("server faults", len(served), iter(served))


def unseen(
    settings: Settings, target: str, counterexamples: Counterexamples
) -> tuple[Program, ...]:
    """Return the programs of a target's known failures that are not among the counterexamples."""
    programs: dict[Program, None] = {}
    known = settings.known_of(target)
    for clause in sorted(settings.declared):
        failures = [f for found in counterexamples.of(clause).values() for f in found]
        for entry in absent(known, clause, failures):
            if entry.program is not None:
                programs[entry.program] = None
    return tuple(programs)


def _far_sources(context: RunContext, only: int | None) -> Iterator[_Source]:
    """Yield the sources of programs far from the beginning: large files, numbers and counts."""
    binding, settings, operations = context.binding, context.settings, context.operations
    effort, seed, few = settings.effort, settings.seed, context.gets_few
    in_options = binding.opener is not None and settings.checks("openfile")
    opens = in_options and settings.profile.has("supports-openfile")
    far: list[Program] = []
    apart = [b.size for b in learned(context) if b.source.startswith(OF_VECTORED)]
    for boundary in learned(context):
        if boundary.size in apart:
            continue
        if boundary.source != OF_POLICY:
            far += boundaries.programs(operations, boundary.size, effort, seed, few, only)
        if opens and boundary.size <= _LARGEST_FOR_POLICIES:
            policies = list(option_table().policies)
            far += boundaries.policy_programs(operations, boundary.size, policies, only)
    yield _Source("boundaries", len(far), iter(far))
    lists = range_lists.programs(operations, effort, seed, apart, few, only)
    yield _Source("ranges", len(lists), iter(lists))
    number = large_numbers.programs(operations, effort, few, only, opens)
    yield _Source("numbers", len(number), iter(number))
    pace = sizes.Pace() if few else pace_of_reads(context)
    size = sizes.programs(operations, effort, seed, few, only, binding.block, pace)
    size += _sparse(context)
    yield _Source("sizes", len(size), iter(size))
    yield _Source("counts", None, call_counts.programs(operations, effort, few, only))


def _sparse(context: RunContext) -> list[Program]:
    """Return programs on sparse files, if the effort has them and the target can hold them."""
    binding, is_over = context.binding, context.times.run.is_over
    if context.settings.effort == "quick" or not binding.holds_sparse or is_over:
        return []
    try:
        for length in sizes.SPARSE:
            context.executor.file(length)
    except TargetError as error:  # not every disk can
        context.warnings.append(f"files of 2 GiB and more were not tried: {error}")
        return []
    if reads_whole_files(context):
        context.warnings.append(
            "files of 2 GiB and more were not tried: the target reads a file whole"
        )
        return []
    return sizes.sparse_programs(context.operations)


def _openings(context: RunContext, only: int | None) -> Iterator[_Source]:
    binding, settings, operations = context.binding, context.settings, context.operations
    opener, profile, effort = binding.opener, settings.profile, settings.effort
    if opener is None or "openings" in absent_phases(context):
        return

    def of(effort: str) -> Iterator[Program]:
        return open_programs.programs(
            opener.scenes,
            opener.statuses,
            operations,
            profile.own_keys,
            profile.unsupported_keys,
            effort,
            settings.seed,
            only,
        )

    if context.gets_few:
        yield _sampled("openings", of(effort), open_programs.REMOTE[effort], settings)
    elif context.is_slow:  # all programs of deep take seconds to make
        first: Iterator[Item] = iter(call_sequences.shuffled(of("quick"), settings.seed))
        more: Iterator[Item] = iter(()) if effort == "quick" else of(effort)
        yield _Source("openings", None, itertools.chain(first, more))
    else:
        yield _Source("openings", None, of(effort))


def _sampled(name: str, source: Iterable[Program], count: int, settings: Settings) -> _Source:
    drawn = call_sequences.sampled(source, count, settings.seed)
    return _Source(name, len(drawn), iter(drawn))


def _relevant(items: Iterator[Item], context: RunContext) -> Iterator[Item]:
    """Return the programs that can exercise a clause that is judged."""
    settings = context.settings
    relevant = settings.relevant
    if relevant is None:
        return items
    telling = _Telling(relevant, settings, context.buffer)
    return (item for item in items if isinstance(item, Vector) or telling.has(item))


#: The longest file for which the clauses of a call are looked up.
_LONGEST_LOOKED_UP = 1 << 13


class _Telling:
    """The programs that can tell something about the selected clauses."""

    def __init__(self, operations: frozenset[str], settings: Settings, buffer: int) -> None:
        self._operations = operations
        self._changes = settings.checks("consistency")
        self._several = settings.checks("streams")
        self._selected = settings.selected
        self._buffer = buffer
        self._known: dict[tuple[int, str, tuple[object, ...]], bool] = {}

    def has(self, program: Program) -> bool:
        """Return whether a program has a call that can, or streams if a clause is about several."""
        if (program.opening, program.faults, program.at) != (None, None, None):
            return True
        if self._several and program.streams > 1:
            return True
        return any(
            (step.op in self._operations and self._tells(program.length, step))
            or (self._changes and step.op in OF_FILE)
            for step in program.steps
        )

    def _tells(self, length: int, step: Step) -> bool:
        if length > _LONGEST_LOOKED_UP or step.op not in TABLES:
            return True
        key = length, step.op, step.args
        known = self._known.get(key)
        if known is None:
            args = resolve_step(step, length, self._buffer).args
            charged = chargeable(step.op, args, length)
            known = self._known[key] = not charged.isdisjoint(self._selected)
        return known


# Checks ---------------------------------------------------------------------------------------

#: Longer than the limit of a schedule, in seconds: a longer hang is outside the threads.
_SCHEDULE_PATIENCE = 90.0
#: The approximate number of calls of a schedule, with those of its threads one after the other,
#: and if the threads of a slow target make few.
_SCHEDULE_CALLS, _FEW_CALLS = 100, 25
#: The numbers by which checks are assigned to shards; families of threads have the numbers before.
_COSTS, _STATUS, _RESOURCES, _FAULTY_THREADS, _GROWTH = range(OVERLAP + 1, OVERLAP + 6)


def check_phases(context: RunContext) -> Iterator[Phase]:
    """Yield the phases that come after the programs."""
    absent = absent_phases(context)
    yield Phase("search", None, partial(_watched, check=_search))
    if "status" not in absent:
        yield _dealt(context, _STATUS, "status", _check_status)
    if "resources" not in absent:
        checks = [_check_unbuffer, *_checks_of_held(context)]
        yield _queued(context, _RESOURCES, "resources", checks, _check_resources)
    if "growth" not in absent and not context.gets_few:
        yield _dealt(context, _GROWTH, "growth", _check_growth)
    if "costs" not in absent:
        declared = context.settings.declared
        bounded = [c for c in context.settings.clauses if c.cost is not None and c.id in declared]
        yield _queued(context, _COSTS, "costs", bounded, _check_costs)
    if context.settings.profile.one_thread:
        context.notes.append("the profile declares threads: one")
    if "threads under faults" not in absent:
        yield _dealt(context, _FAULTY_THREADS, "threads under faults", _check_faulty_threads)
    if "concurrency" not in absent:
        yield Phase("concurrency", None, _check_threads)


def _crashed_outside_programs(settings: Settings) -> frozenset[str]:
    """Return the clauses of crashes in a check that runs no program."""
    return frozenset(c.clause for c in settings.crashes if c.program is None)


def _watched(context: RunContext, check: Callable[[RunContext], None]) -> bool:
    if context.times.run.is_over:
        context.cut_short.append(PhaseShare(context.phase, 0, None))
    else:
        run_check(context, partial(check, context))
    return True


def _dealt(
    context: RunContext, number: int, name: str, check: Callable[[RunContext], None]
) -> Phase:
    """Return the phase of a check, which does nothing in shards without this number."""
    shard = context.settings.shard
    if shard is not None and not shard.has(number):
        return Phase(name, None, _skip)
    return Phase(name, None, partial(_watched, check=check))


def _queued(
    context: RunContext,
    number: int,
    name: str,
    items: Sequence[Waiting],
    check: Callable[[RunContext, _Queue[Waiting]], None],
) -> Phase:
    """Return a phase as `_dealt` does, which can be resumed at the item that had no time."""
    shard = context.settings.shard
    if shard is not None and not shard.has(number):
        return Phase(name, None, _skip)
    queue = _Queue(iter(items))

    def run(context: RunContext) -> bool:
        run_check(context, partial(check, context, queue))
        return not queue.has_back

    return Phase(name, len(items), run)


def _skip(context: RunContext) -> bool:
    """Leave a check to another shard."""
    return True


def _search(context: RunContext) -> None:
    settings, fixed = context.settings, context.binding.fixed_content
    if settings.shard is not None and settings.shard.seen is None:
        return  # failures of other shards are not known yet
    seen = context.counterexamples.seen if settings.shard is None else settings.shard.seen

    tried = itertools.count()

    def fails(program: Program) -> bool:
        context.done = done = next(tried)
        if not context.has_time_for(len(program.steps)):
            context.cut_short.append(PhaseShare(context.phase, done, None))
            raise hypothesis_search.OutOfTime
        with context.sandbox.patches.within_raised_limit():
            violation = context.executor.run(program).violation
        return violation is not None and violation.signature not in (seen or ())

    if not context.gets_few:
        program = hypothesis_search.search(
            fails,
            context.operations,
            context.buffer,
            settings.effort,
            settings.seed,
            None if fixed is None else len(fixed),
        )
        if program is not None:
            check_program(context, program)


def _check_status(context: RunContext) -> None:
    for length in (0, 1, call_sequences.LENGTH, context.buffer + call_sequences.OVERHANG):
        path, data, _ = context.executor.file(length)
        known, counterexample = check_length(context.binding, path, data)
        context.keep(STATUS, counterexample)
        context.exercised[STATUS] += known


#: A check of resources, which asks whether there is time for a number of calls.
_OfResources: TypeAlias = Callable[[RunContext, InTime], None]


def _check_resources(context: RunContext, checks: _Queue[_OfResources]) -> None:
    def in_time(calls: int) -> bool:
        fits = context.has_time_for(calls)
        if not fits and not checks.has_back:
            checks.put_back(check)
        return fits

    for check in checks:
        check(context, in_time)
        if checks.has_back:
            return
        context.done += 1


def _check_unbuffer(context: RunContext, in_time: InTime) -> None:
    clause = "unbuffer.release"
    if "unbuffer" in context.operations and clause in context.settings.selected:
        exercised, counterexample = check_unbuffer(context.executor, in_time)
        context.exercised[clause] += exercised
        context.keep(clause, counterexample)


def _checks_of_held(context: RunContext) -> list[_OfResources]:
    programs = held_programs(context.operations)
    return [partial(_check_held, program=program) for program in programs]


def _check_held(context: RunContext, in_time: InTime, program: Program) -> None:
    clause, keeps_open = "close.release", context.left_out.open_streams
    is_judged = clause in context.settings.selected and not keeps_open
    if is_judged and not leaks_in(context, clause, program):
        exercised, counterexample = check_held(context.executor, program, in_time)
        context.exercised[clause] += exercised
        context.keep(clause, counterexample)


def _check_growth(context: RunContext) -> None:
    """Warn if calls take longer and longer, or more and more memory: no clause limits them."""
    possible = context.has_time_for(MAX_CALLS) and not context.left_out
    growth = check_growth(context.executor) if possible else ""
    if growth:
        context.warnings.append(f"{context.binding.name}: {growth}")


def _check_costs(context: RunContext, clauses: _Queue[Clause]) -> None:
    profile, opener = context.settings.profile, context.binding.opener
    assert opener is not None
    budgets, policies = profile.budgets, tuple(option_table().policies)
    in_time = context.has_time_for
    for clause in clauses:
        (cost,) = check_costs(context.executor, opener, [clause], budgets, policies, in_time)
        if cost.cut_short:
            clauses.put_back(clause)
            return
        context.done += 1
        context.exercised[cost.clause] += cost.exercised
        if cost.unsaid:
            context.executor.unsaid.add(cost.clause)
        if cost.environment:
            context.lose_call(cost.environment, {cost.clause})
        context.keep(cost.clause, cost.counterexample)


def _check_faulty_threads(context: RunContext) -> None:
    clause, injector = concurrent_fault_check.CLAUSE, context.binding.injector
    if injector is None or clause not in context.settings.selected:
        return
    result = concurrent_fault_check.check_preads(context.executor, injector)
    context.exercised[clause] += result.exercised
    context.keep(clause, result.counterexample)


# Threads --------------------------------------------------------------------------------------


def _check_threads(context: RunContext) -> bool:
    shard = context.settings.shard
    if shard is None:
        report = _schedules(context, None)
        context.exercised.update(report.exercised)
        context.notes += report.notes
        context.counts["schedules"] += report.schedules
        context.executor.operations += report.operations
        _keep_schedules(context, report)
        return True
    for number in range(OVERLAP + 1):
        if shard.has(number):
            shard.at(number)
            context.families.append(Family(shard.order))
            _keep_family(context, _schedules(context, number))
    return True


def _schedules(context: RunContext, only: int | None) -> ConcurrencyReport:
    """Return the report of the check, up to its end or to a call that hangs outside threads."""
    settings, report, times = context.settings, ConcurrencyReport(), context.times
    selected = settings.selected - of_same_families(_crashed_outside_programs(settings))

    def count(schedules: int) -> None:
        context.done = schedules

    def check() -> None:
        check_concurrency(
            context.binding,
            settings.profile.features,
            settings.effort,
            settings.seed,
            count,
            context.buffer,
            selected,
            only=only,
            report=report,
            time=times.phase,
            without=context.left_out.operations,
            few=few,
            keeps_open=context.left_out.open_streams,
        )

    few = context.gets_few or context.is_slow
    if not context.has_time_for(_FEW_CALLS if few else _SCHEDULE_CALLS):
        report.cut_short = True
    else:
        run_check(context, check, min(_SCHEDULE_PATIENCE, times.phase.left))
        report.cut_short = report.cut_short or (report.stopped and times.phase.is_over)
    if report.cut_short:
        context.cut_short.append(PhaseShare(context.phase, report.schedules, None))
    return report


def _keep_family(context: RunContext, report: ConcurrencyReport) -> None:
    """Keep the results of one family separately: a run may end before another one."""
    family = context.families[-1]
    family.exercised.update(report.exercised)
    family.counts.update({"schedules": report.schedules, "operations": report.operations})
    family.notes += report.notes
    family.stopped = report.stopped
    _keep_schedules(context, report)


def _keep_schedules(context: RunContext, report: ConcurrencyReport) -> None:
    for counterexamples, missed in ((report.violations, False), (report.missed, True)):
        for clause, schedule in counterexamples.items():
            how = "threads: hang" if "hang" in schedule.actual else NO_ORDER
            threads = report.schedules_json.get(clause)
            named = replace(schedule, how=how, threads=threads)
            context.report(context.counterexamples.add(clause, named, missed))
