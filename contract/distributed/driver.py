"""Run shards as tasks on a backend, and merge their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from fscontract.contract import clock
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.distributed.backend import Backend, LazyBackend
from fscontract.contract.distributed.file_visibility import (
    BYTES,
    EXECUTORS,
    LENGTH,
    VERSION,
    is_place,
    write,
)
from fscontract.contract.distributed.partial_results import (
    MISS,
    MISSED,
    UNHELD,
    Merged,
    Partial,
    merge,
)
from fscontract.contract.distributed.shard import Shard
from fscontract.contract.distributed.worker import request_of, run_shard
from fscontract.contract.generate.hypothesis_search import EXAMPLES
from fscontract.contract.isolation import protocol
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.program import Program
from fscontract.contract.runner import phases
from fscontract.contract.runner.events import (
    Interrupted,
    Judged,
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
    ViolationFound,
)
from fscontract.contract.runner.internal_errors import Fault, InternalError
from fscontract.contract.runner.result import INTERRUPTED, Counterexample, RunResult
from fscontract.contract.runner.run_options import RunOptions, resolve_any, selected, settings_for
from fscontract.contract.runner.sandbox import SandboxedBinding, disposed
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.runner.timeouts import held_back
from fscontract.contract.runner.verdicts import sum_up
from fscontract.contract.spec.clauses import STREAM
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.targets import UsageError, has_mark
from fscontract.contract.text import mask_url

_TICK = 0.5
_NO_PLACE = "each task makes a separate target, whose files other tasks do not see"


class DistributedRun:
    """One run, whose programs the tasks of a backend run."""

    def __init__(
        self,
        target: str,
        binding: Binding,
        run: RunOptions,
        settings: Settings,
        backend: Backend,
        listener: Listener = lambda event: None,
        tasks: int | None = None,
    ) -> None:
        self._target = mask_url(target)
        self._raw = binding
        self._binding = SandboxedBinding(binding, settings.timeout)
        self._binding.remote = settings.remote(binding)
        self._settings = settings
        self._backend = backend
        self._listener = listener
        self._tasks = tasks or backend.shards_per_task * backend.parallelism
        waves = self._tasks / backend.parallelism
        run = replace(run, budget=settings.budget / max(waves, 1.0))
        self._request = request_of(target, run, settings.profile)
        self._request["file"] = None
        self._is_place = is_place(target)
        self._parts: list[Partial] = []
        self._reported: set[str] = set()
        self._lost: list[str] = []
        self._warnings: list[str] = []
        self._awaited = 0

    def check(self) -> RunResult:
        """Return the result, as `runner.check` does in one process.

        Raise TargetError if tasks can't set the target up, or can't be run and nothing was found.
        """
        start, begun = clock.now(), clock.monotonic()
        self._listener(self._settings.started(self._binding))

        def result(lost: str = "") -> RunResult:
            return self._sum_up(lost, start, clock.monotonic() - begun)

        try:
            self._run_all()
        except KeyboardInterrupt:
            self._backend.cancel()
            done = f"{len(self._parts)} of {self._awaited} tasks were complete"
            lost = f"{INTERRUPTED}: {done}"
            self._listener(Interrupted(replace(result(lost), incomplete=lost)))
            with held_back():
                self._backend.close()  # no task may write from now on
                self._remove_leftovers()
            raise
        except BaseException:
            self._backend.cancel()
            raise
        if self._lost:
            self._remove_leftovers()
        final = result(f"lost: {self._lost[0]}" if self._lost else "")
        self._listener(Judged(final))
        self._listener(RunFinished(final))
        return final

    # Tasks ----------------------------------------------------------------------------------

    def _run_all(self) -> None:
        binding = self._binding
        try:
            if self._is_place and self._settings.checks(EXECUTORS):
                binding.prepare()
                self._request["file"] = protocol.to_json(write(binding))
            self._run_shards()
        finally:
            self._warnings += disposed(binding)

    def _remove_leftovers(self) -> None:
        """Remove the files of tasks that did not complete."""
        if not self._is_place:
            return
        with suppress(TargetError):  # most bindings can list leftovers
            for prefix in self._binding.leftovers():
                if has_mark(prefix.rstrip("/").rpartition("/")[2], self._request["mark"]):
                    self._binding.discard(prefix)

    def _run_shards(self) -> None:
        count = self._tasks
        self._run([Shard(number, count) for number in range(count)])
        merged = self._merged()
        if merged.ends_early and count > 1:
            # A single process would not have completed, so one task has to give its result.
            self._parts.clear()
            self._run([Shard()])
            merged = self._merged()
        if EXAMPLES[self._settings.effort] and not self._binding.remote and not self._lost:
            self._run([Shard(seen=merged.seen)])
        unseen = self._unseen()
        if unseen and not self._lost:
            self._run([Shard(unseen=unseen)])

    def _unseen(self) -> tuple[Program, ...]:
        """Return the programs of known failures that no shard has seen."""
        settings = self._settings.with_observed(self._observed)
        return phases.unseen(settings, self._binding.name, self._merged().counterexamples)

    def _run(self, shards: Sequence[Shard]) -> None:
        """Run shards as tasks, and collect each result when it arrives.

        Raise TargetError if results are missing and the others have no violation. All tasks are
        awaited, so that the result does not depend on their order.
        """
        self._awaited = len(shards)
        noun = "task" if len(shards) == 1 else "tasks"
        phase = f"{len(shards)} {noun} of {self._backend.name}"
        self._listener(PhaseStarted(phase, None))
        waiting = {self._submit(shard): shard for shard in shards}
        done = 0
        while waiting:
            ended, _ = wait(waiting, _TICK, FIRST_COMPLETED)
            for future in ended:
                self._take(future, waiting.pop(future))
                done += 1
            self._report_progress(phase, done, len(shards))
        if self._lost and not self._reported:
            raise TargetError(self._lost[0])

    def _submit(self, shard: Shard) -> Future[str]:
        request = json.dumps({**self._request, "part": protocol.to_json(shard)})
        description = f"fscontract check {self._target}: {shard}"
        return self._backend.submit(run_shard, request, description)

    def _take(self, future: Future[str], shard: Shard) -> None:
        try:
            answer = json.loads(future.result())
        except TargetError as error:
            self._lost.append(f"{self._binding.name}: {shard}: {error}")
            return
        where = f"in a task of {self._backend.name} on {answer.pop('where')}"
        if "fault" in answer:
            raise InternalError(Fault(f"{answer['fault']} ({where})", answer["trace"]))
        if "target" in answer:
            self._lost.append(f"{answer['target']} ({where})")
            return
        partial = protocol.from_json(Partial, answer)
        self._parts.append(partial)
        for clause, counterexample in self._new_violations(partial):
            self._reported.add(clause)
            self._listener(ViolationFound(clause, counterexample))

    def _new_violations(self, partial: Partial) -> Iterator[tuple[str, Counterexample]]:
        for record in partial.records:
            if record.examined is None or record.kind in (MISS, MISSED, UNHELD):
                continue
            clause = record.examined.clause
            if clause in self._settings.selected and clause not in self._reported:
                yield clause, record.examined.counterexample

    def _report_progress(self, phase: str, done: int, total: int) -> None:
        operations = sum(part.counts["operations"] for part in self._parts)
        running = self._backend.running()
        self._listener(Progress(phase, done, total, operations, unit="task", running=running))

    # Verdicts -------------------------------------------------------------------------------

    @property
    def _observed(self) -> dict[str, bool]:
        """The features that the profile leaves open, as a shard observed them."""
        return self._parts[0].observed if self._parts else {}

    def _merged(self) -> Merged:
        settings = self._settings
        return merge(self._parts, settings.selected, settings.remote(self._binding))

    def _sum_up(self, lost: str, started: datetime, seconds: float) -> RunResult:
        merged = self._merged()
        if self._raw.opener is not None and self._parts:
            self._raw.opener.scenes = frozenset.intersection(*(p.scenes for p in self._parts))
        reasons = {} if self._is_place else dict.fromkeys((LENGTH, VERSION, BYTES), _NO_PLACE)
        counts = {"tasks": len(self._parts), **merged.counts}
        binding, settings = self._binding, self._settings.with_observed(self._observed)
        evidence = merged.evidence(lost, reasons)
        result = sum_up(binding, settings, evidence, started, seconds, counts)
        others = (*self._warnings, *self._lost, *self._other_versions())
        warnings = (*merged.warnings, *others)
        return replace(
            result,
            warnings=(*warnings, lost) if lost else warnings,
            observed=self._observed,
            cut_short=tuple(merged.cut_short.values()),
            boundaries=tuple(merged.boundaries),
        )

    def _other_versions(self) -> Iterator[str]:
        """Yield a line for each library whose version in the tasks differs from the local one."""
        here = dict(getattr(self._binding, "versions", {}))
        differences = {
            f"{name} {version} there, {here[name]} here"
            for part in self._parts
            for name, version in part.versions.items()
            if here.get(name, version) != version
        }
        yield from sorted(f"{self._backend.name}: {line}" for line in differences)


class DistributedTarget:
    """A target whose programs a backend runs; UsageError if that is not possible.

    The target is also made locally, so that errors show before anything is started.
    """

    def __init__(
        self, target: str, run: RunOptions, known: tuple[Known, ...], backend: LazyBackend
    ) -> None:
        option = backend.option
        if target == backend.kind:
            raise UsageError(
                f"{target}: the target runs tasks itself, so it can't be used with {option}"
            )
        #: The APIs of its clauses.
        self.apis = frozenset({STREAM, EXECUTORS} if backend.is_remote else {STREAM})
        binding = resolve_any(target, run)
        if isinstance(binding, PipelineBinding):
            raise UsageError(
                f"{mask_url(target)}: {option} requires a filesystem, got a {binding.api}"
            )
        self.binding: Binding = binding
        self._target = target
        self._run = run
        self._known = known
        self._backend = backend

    @property
    def name(self) -> str:
        """The name of the binding."""
        return str(self.binding.name)

    def check(self, listener: Listener) -> RunResult:
        """Return the result of the run; raise TargetError if there is none."""
        run, binding = self._run, self.binding
        chosen = selected(run, anything=True)
        clauses = with_checks(chosen)
        if EXECUTORS in self.apis:
            clauses += tuple(c for c in chosen if c.api == EXECUTORS)
        settings = settings_for(binding, run, clauses, self._known, target=self._target)
        backend = self._backend.started()
        return DistributedRun(self._target, binding, run, settings, backend, listener).check()

    def close(self) -> None:
        """Do nothing, because other targets use the same backend."""
