"""Phases of a run, in their order: streams of programs, and checks that are not programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding
from fscontract.contract.concurrency import check_concurrency
from fscontract.contract.concurrency.check import OVERLAP, ConcurrencyReport
from fscontract.contract.concurrency.programs import of_same_families
from fscontract.contract.distributed.partial_results import Family
from fscontract.contract.generate import (
    block_boundaries,
    exhaustive,
    fault_programs,
    file_changes,
    hypothesis_search,
    open_programs,
    random_walk,
)
from fscontract.contract.generate.vectors import Vector, vectors
from fscontract.contract.program.program import Program
from fscontract.contract.runner import concurrent_fault_check
from fscontract.contract.runner.cost_checks import check_costs
from fscontract.contract.runner.resource_checks import STATUS, check_length, check_unbuffer
from fscontract.contract.runner.settings import Settings

if TYPE_CHECKING:
    from fscontract.contract.runner.runner import Run


Item: TypeAlias = Program | Vector
#: Programs of a part of a run that follow each other, so that it judges most calls by what it
#: remembers.
_BLOCK = 32


class Phase(NamedTuple):
    """Programs of one source; `total` is how many, None if that is not known beforehand."""

    name: str
    total: int | None
    items: Iterator[Item]


class _Source(NamedTuple):
    """A phase whose programs may be such still to be made."""

    name: str
    total: int | None
    items: Iterator[Item] | Iterator[exhaustive.Row]


def phases(
    binding: Binding, settings: Settings, operations: frozenset[str], buffer: int
) -> Iterator[Phase]:
    """What to run on a binding, without the programs that tell nothing of the wanted clauses.

    Of a target whose calls cost round trips fewer programs are made. With a part of a run as
    setting, it is only the programs of that.
    """
    part, seed, block = settings.part, settings.seed, 1 if binding.remote else _BLOCK
    for name, total, items in _phases(binding, settings, operations, buffer):
        dealt = items if part is None else part.deal(name, seed, items, block)
        yield Phase(name, total, _telling(map(_made, dealt), settings))


def _made(item: Item | exhaustive.Row) -> Item:
    """The program of a row; whatever else there is to run, as it is."""
    return Program(*item) if type(item) is tuple else item  # type: ignore[return-value]


def _phases(
    binding: Binding, settings: Settings, operations: frozenset[str], buffer: int
) -> Iterator[_Source]:
    effort, fixed = settings.effort, binding.fixed_content
    only = None if fixed is None else len(fixed)
    declared = [c for c in settings.clauses if not settings.profile.satisfies(c.needs)]
    yield _Source("vectors", None, vectors(declared, operations, only))
    if binding.remote:
        quick = exhaustive.programs(operations, buffer, "quick", only)
        yield _sampled("exhaustive", quick, exhaustive.REMOTE_PROGRAMS[effort], settings)
    else:
        enumerated = exhaustive.rows(operations, buffer, effort, only)
        yield _Source("exhaustive", None, enumerated)
    total = random_walk.PROGRAMS[effort]
    total = max(20, total // 50) if binding.remote else total
    source = random_walk.programs(operations, buffer, effort, settings.seed, only)
    yield _Source("seeded", total, itertools.islice(source, total))
    if binding.block not in (None, buffer):
        around = block_boundaries.programs(
            operations, binding.block, effort, settings.seed, binding.remote, only
        )
        yield _Source("blocks", len(around), iter(around))
    if binding.changes and fixed is None and settings.checks("consistency"):
        yield _Source("changes", None, file_changes.programs(operations, binding.changes, effort))
    yield from _openings(binding, settings, operations, only)
    injector, faults = binding.injector, settings.faults
    if injector is not None and faults is not None and settings.checks("faults"):
        kinds = injector.kinds
        if not settings.profile.has("supports-deadlines"):
            kinds -= {"hang"}
        failing = fault_programs.programs(operations, kinds, buffer, faults, settings.seed, only)
        if binding.remote:
            few = fault_programs.drawn(failing, faults, settings.seed)
            yield _Source("faults", len(few), iter(few))
        else:
            yield _Source("faults", None, failing)


def _openings(
    binding: Binding, settings: Settings, operations: frozenset[str], only: int | None
) -> Iterator[_Source]:
    opener, profile, effort = binding.opener, settings.profile, settings.effort
    if opener is None or not profile.has("supports-openfile") or not settings.checks("openfile"):
        return
    source = open_programs.programs(
        opener.scenes,
        opener.statuses,
        operations,
        profile.own_keys,
        profile.unsupported_keys,
        effort,
        settings.seed,
        only,
    )
    if binding.remote:
        yield _sampled("openings", source, open_programs.REMOTE[effort], settings)
    else:
        yield _Source("openings", None, source)


def _sampled(name: str, source: Iterable[Program], most: int, settings: Settings) -> _Source:
    drawn = exhaustive.sampled(source, most, settings.seed)
    return _Source(name, len(drawn), iter(drawn))


def _telling(items: Iterator[Item], settings: Settings) -> Iterator[Item]:
    """Those that can tell something of the clauses that are judged."""
    relevant = settings.relevant
    if relevant is None or settings.checks("consistency"):
        return items
    return (item for item in items if isinstance(item, Vector) or _tells(item, relevant))


def _tells(program: Program, operations: frozenset[str]) -> bool:
    special = program.opening is not None or program.faults is not None
    return special or any(step.op in operations for step in program.steps)


#: Longer than any schedule may take, in seconds: what hangs then hangs outside the threads.
_SCHEDULE_PATIENCE = 90.0
#: The numbers by which checks are dealt to the parts of a run; families of threads come before.
_COSTS, _STATUS, _RESOURCES, _FAULTY_THREADS = range(OVERLAP + 1, OVERLAP + 5)


class Specials:
    """What else there is to do in a run, or in the part of it that its settings have."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._part = run.settings.part

    def __iter__(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Names of phases, and what is done in them."""
        run, checks = self._run, self._run.settings.checks
        crashed = {c.clause for c in run.settings.crashes if c.program is None}
        yield "search", lambda: run.supervised("search", self._search)
        if checks("status") and STATUS not in crashed:
            yield "status", self._one(_STATUS, "status", self._status)
        if checks("resources"):
            yield "resources", self._one(_RESOURCES, "resources", self._resources)
        if checks("cost") and run.binding.opener is not None:
            yield "costs", self._one(_COSTS, "costs", self._costs)
        if run.settings.faults is not None and checks("faults"):
            yield (
                "threads under faults",
                self._one(_FAULTY_THREADS, "threads", self._faulty_threads),
            )
        if checks("concurrency"):
            patience = max(run.settings.timeout, _SCHEDULE_PATIENCE)
            yield "concurrency", lambda: self._concurrency(patience)

    def _one(self, number: int, name: str, work: Callable[[], None]) -> Callable[[], None]:
        if self._part is not None and not self._part.has(number):
            return _nothing
        return lambda: self._run.supervised(name, work)

    def _search(self) -> None:
        run = self._run
        settings, fixed = run.settings, run.binding.fixed_content
        only = None if fixed is None else len(fixed)
        failed: Container[str] = run.findings.failed
        if self._part is not None:
            if self._part.failed is None:  # what fails elsewhere is not known yet
                return
            failed = self._part.failed

        def fails(program: Program) -> bool:
            found = run.executor.run(program).violation
            return found is not None and found.failure.clause not in failed

        if not run.binding.remote:
            found = hypothesis_search.search(
                fails, run.operations, run.buffer, settings.effort, settings.seed, only
            )
            if found is not None:
                run.attempt(found)

    def _status(self) -> None:
        run = self._run
        for length in (0, 1, exhaustive.LENGTH, run.buffer + exhaustive.OVERHANG):
            path, data, _ = run.executor.file(length)
            known, shown = check_length(run.binding, path, data)
            run.keep(STATUS, shown)
            run.extra[STATUS] += known

    def _resources(self) -> None:
        run = self._run
        if "unbuffer" in run.operations and "unbuffer.release" in run.settings.wanted:
            exercised, shown = check_unbuffer(run.executor)
            run.extra["unbuffer.release"] += exercised
            run.keep("unbuffer.release", shown)

    def _costs(self) -> None:
        run = self._run
        profile, opener = run.settings.profile, run.binding.opener
        assert opener is not None
        declared = [c for c in run.settings.clauses if not profile.satisfies(c.needs)]
        policies = tuple(option_table().policies)
        for found in check_costs(run.executor, opener, declared, profile.budgets, policies):
            run.extra[found.clause] += found.exercised
            if found.unsaid:
                run.executor.unsaid.add(found.clause)
            if found.environment:
                run.environment(found.environment)
            run.keep(found.clause, found.shown)

    def _faulty_threads(self) -> None:
        run, clause = self._run, concurrent_fault_check.CLAUSE
        injector = run.binding.injector
        if injector is None or clause not in run.settings.wanted:
            return
        found = concurrent_fault_check.check_preads(run.executor, injector)
        run.extra[clause] += found.exercised
        run.keep(clause, found.shown)

    # Threads ----------------------------------------------------------------------------------

    def _concurrency(self, patience: float) -> None:
        run, part = self._run, self._part
        if part is None:
            self._take(self._checked(None, patience))
            return
        for number in range(OVERLAP + 1):
            if part.has(number):
                part.at(number)
                run.families.append(Family(part.order))
                self._take_family(self._checked(number, patience))

    def _take_family(self, report: ConcurrencyReport) -> None:
        """Keep what came of one family apart: another may be the last in a run."""
        counts = {"schedules": report.schedules, "operations": report.operations}
        family = self._run.families[-1]
        family.exercised.update(report.exercised)
        family.counts.update(counts)
        family.notes += report.notes
        family.stopped = report.stopped
        self._show(report)

    def _checked(self, only: int | None, patience: float) -> ConcurrencyReport:
        """What the check has found, up to its end or to a call that hangs outside the threads."""
        run, report = self._run, ConcurrencyReport()
        settings = run.settings
        crashed = {c.clause for c in settings.crashes if c.program is None}
        wanted = settings.wanted - of_same_families(crashed)

        def check() -> None:
            features, effort, seed = settings.profile.features, settings.effort, settings.seed
            check_concurrency(
                run.binding,
                features,
                effort,
                seed,
                run.beat,
                run.buffer,
                wanted,
                only=only,
                report=report,
            )

        run.supervised("c", check, patience)
        return report

    def _take(self, report: ConcurrencyReport) -> None:
        run = self._run
        run.extra.update(report.exercised)
        run.notes += report.notes
        run.counts["schedules"] += report.schedules
        run.executor.operations += report.operations
        self._show(report)

    def _show(self, report: ConcurrencyReport) -> None:
        run = self._run
        for found, missed in ((report.violations, False), (report.missed, True)):
            for clause, shown in found.items():
                how = "threads: hang" if "hang" in shown.actual else "threads: no serial order"
                data = report.schedules_json.get(clause)
                named = replace(shown, how=how, threads=data)
                run.report(run.findings.add(clause, named, missed))


def _nothing() -> None:
    """Another part of the run does it."""
