"""The phases of a run that are not streams of programs, in their order."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fscontract.contract.openfile_options import option_table
from fscontract.contract.program import Program
from fscontract.contract.suite import faultythreads
from fscontract.contract.suite.concurrency import check_concurrency
from fscontract.contract.suite.concurrency.check import OVERLAP
from fscontract.contract.suite.concurrency.generate import of_same_families
from fscontract.contract.suite.concurrency.report import ConcurrencyReport
from fscontract.contract.suite.costs import check_costs
from fscontract.contract.suite.generate import exhaustive, search
from fscontract.contract.suite.resources import STATUS, check_length, check_unbuffer
from fscontract.contract.suite.spread.partial import Family

if TYPE_CHECKING:
    from fscontract.contract.suite.runner import Run

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
            found = search.search(
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
        if "unbuffer" in run.operations and "unbuf.release" in run.settings.wanted:
            exercised, shown = check_unbuffer(run.executor)
            run.extra["unbuf.release"] += exercised
            run.keep("unbuf.release", shown)

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
        run, clause = self._run, faultythreads.CLAUSE
        injector = run.binding.injector
        if injector is None or clause not in run.settings.wanted:
            return
        found = faultythreads.check_preads(run.executor, injector)
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
