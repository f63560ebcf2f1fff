"""Run shards as tasks on a backend, and sum up their results."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from importlib.metadata import entry_points
from typing import Any, ClassVar, TypeAlias

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.distributed.file_visibility import (
    BYTES,
    EXECUTORS,
    LENGTH,
    VERSION,
    is_place,
    write,
    written_to_json,
)
from fscontract.contract.distributed.partial_results import (
    MISS,
    MISSED,
    UNHELD,
    Merged,
    Partial,
    merge,
    partial_from_json,
)
from fscontract.contract.distributed.shard import Part
from fscontract.contract.distributed.worker import part_to_json, request_of, run_part
from fscontract.contract.generate.hypothesis_search import EXAMPLES
from fscontract.contract.masking import mask_url
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner import clock
from fscontract.contract.runner.events import (
    Interrupted,
    Judged,
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.internal_errors import Fault, InternalError
from fscontract.contract.runner.result import INTERRUPTED, RunResult
from fscontract.contract.runner.run_options import RunOptions, resolve_any, selected, settings_for
from fscontract.contract.runner.sandbox import Guarded
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.runner.timeouts import held_back
from fscontract.contract.runner.verdicts import sum_up
from fscontract.contract.spec.clauses import STREAM
from fscontract.contract.spec.known_failures import Known
from fscontract.contract.targets import UsageError, has_mark

#: Entry points of functions that make a Spreading of what the user gave: a master, an address.
SPREADS = "fscontract.spreads"
#: A function of a module that is on both sides; text goes in and out.
Work: TypeAlias = Callable[[str], str]


class Spreading(ABC):
    """Somewhere else, where tasks run in processes that have this very package."""

    #: What it is called in messages; never holds a secret.
    name: str

    @property
    @abstractmethod
    def parallelism(self) -> int:
        """How many tasks run side by side."""

    @abstractmethod
    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Have a task call `work`; TargetError from the future if it could not be run.

        `description` is shown to whoever looks at what is running; `request` may hold secrets.
        """

    def running(self) -> int | None:
        """How many tasks are running now, None if that can't be told."""
        return None

    @abstractmethod
    def cancel(self) -> None:
        """End all tasks, also those that are running."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what was started."""


def spreading(kind: str, place: str) -> Spreading:
    """Spark, say, at a master; TargetError, or UsageError for a place that can't be meant."""
    (entry,) = entry_points(group=SPREADS, name=kind)
    try:
        make: Any = entry.load()
    except ModuleNotFoundError as error:
        raise TargetError(
            f"{kind} needs the module {error.name!r}; pip install 'fscontract[{kind}]'"
        ) from error
    found = make(place)
    if not isinstance(found, Spreading):
        raise TypeError(f"the entry point {kind!r} of {SPREADS} gives no Spreading")
    return found


#: Parts for each task that runs beside others, so that one that takes long holds up little.
TASKS = 4
_TICK = 0.5
_NO_PLACE = "each task makes such a target for itself, and no place that others find"


class SpreadRun:
    """One run, whose programs are run by the tasks of a Spreading."""

    def __init__(
        self,
        target: str,
        binding: Binding,
        run: RunOptions,
        settings: Settings,
        spreading: Spreading,
        listener: Listener = lambda event: None,
        tasks: int | None = None,
    ) -> None:
        self._shown = mask_url(target)
        self._raw = binding
        self._binding = Guarded(binding, settings.timeout)
        self._binding.remote = settings.remote(binding)
        self._settings = settings
        self._spreading = spreading
        self._listener = listener
        self._tasks = tasks or TASKS * spreading.parallelism
        self._request = request_of(target, run, settings.profile)
        self._request["file"] = None
        self._is_place = is_place(target)
        self._parts: list[Partial] = []
        self._told: set[str] = set()
        self._lost: list[str] = []
        self._warnings: list[str] = []
        self._awaited = 0

    def check(self) -> RunResult:
        """The result, as that of `runner.check` in one process.

        TargetError if the target can't be set up there, or tasks can't be run and nothing was
        found.
        """
        started, begun = clock.now(), clock.monotonic()
        binding, settings = self._binding, self._settings
        profile = settings.profile.name
        self._listener(
            RunStarted(
                binding.name,
                binding.api,
                profile,
                settings.effort,
                settings.seed,
                len(settings.clauses),
            )
        )

        def result(lost: str = "") -> RunResult:
            return self._sum_up(lost, started, clock.monotonic() - begun)

        try:
            self._run_all()
        except KeyboardInterrupt:
            self._spreading.cancel()
            done = f"{len(self._parts)} of {self._awaited} tasks had come to their end"
            lost = f"{INTERRUPTED}: {done}"
            self._listener(Interrupted(replace(result(lost), incomplete=lost)))
            with held_back():
                self._spreading.close()  # no task may write any more
                self._remove_left()
            raise
        except BaseException:
            self._spreading.cancel()
            raise
        if self._lost:
            self._remove_left()
        found = result(f"lost: {self._lost[0]}" if self._lost else "")
        self._listener(Judged(found))
        self._listener(RunFinished(found))
        return found

    # Tasks ----------------------------------------------------------------------------------

    def _run_all(self) -> None:
        binding = self._binding
        try:
            if self._is_place and self._settings.checks(EXECUTORS):
                binding.prepare()
                self._request["file"] = written_to_json(write(binding))
            self._run_parts()
        finally:
            try:
                with held_back():
                    binding.dispose()
            except TargetError as error:  # the verdicts stand all the same
                self._warnings.append(str(error))

    def _remove_left(self) -> None:
        """Remove what tasks have left that did not come to their end."""
        if not self._is_place:
            return
        with suppress(TargetError):  # most bindings can tell
            for prefix in self._binding.leftovers():
                if has_mark(prefix.rstrip("/").rpartition("/")[2], self._request["mark"]):
                    self._binding.discard(prefix)

    def _run_parts(self) -> None:
        count = self._tasks
        self._run([Part(number, count) for number in range(count)])
        merged = self._merged()
        if merged.ends_early and count > 1:
            # One process would not have come to its end. So what it would say, one task has to.
            self._parts.clear()
            self._run([Part()])
            merged = self._merged()
        if EXAMPLES[self._settings.effort] and not self._binding.remote and not self._lost:
            self._run([Part(failed=frozenset(merged.kept.failed))])

    def _run(self, parts: list[Part]) -> None:
        """Run parts as tasks, and take what each comes to when it does.

        TargetError if parts are missing, and the others have found nothing. All are waited for, so
        that it does not depend on their order.
        """
        self._awaited = len(parts)
        noun = "task" if len(parts) == 1 else "tasks"
        phase = f"{len(parts)} {noun} of {self._spreading.name}"
        self._listener(PhaseStarted(phase, None))
        waiting = {self._sent(part): part for part in parts}
        done = 0
        while waiting:
            ended, _ = wait(waiting, _TICK, FIRST_COMPLETED)
            for future in ended:
                self._take(future, waiting.pop(future))
                done += 1
            self._tell_progress(phase, done, len(parts))
        if self._lost and not self._told:
            raise TargetError(self._lost[0])

    def _sent(self, part: Part) -> Future[str]:
        request = json.dumps({**self._request, "part": part_to_json(part)})
        description = f"fscontract check {self._shown}: {part}"
        return self._spreading.submit(run_part, request, description)

    def _take(self, future: Future[str], part: Part) -> None:
        try:
            answer = json.loads(future.result())
        except TargetError as error:
            self._lost.append(f"{self._binding.name}: {part}: {error}")
            return
        where = f"in a task of {self._spreading.name} on {answer.pop('where')}"
        if "fault" in answer:
            raise InternalError(Fault(f"{answer['fault']} ({where})", answer["trace"]))
        if "target" in answer:
            self._lost.append(f"{answer['target']} ({where})")
            return
        found = partial_from_json(answer)
        self._parts.append(found)
        for clause, record in self._new(found):
            self._told.add(clause)
            self._listener(ViolationFound(clause, record))

    def _new(self, found: Partial) -> Iterator[tuple[str, Any]]:
        wanted = self._settings.wanted
        for record in found.records:
            if record.found is None or record.kind in (MISS, MISSED, UNHELD):
                continue
            clause = record.found.clause
            if clause in wanted and clause not in self._told:
                yield clause, record.found.shown

    def _tell_progress(self, phase: str, done: int, total: int) -> None:
        operations = sum(part.counts["operations"] for part in self._parts)
        running = self._spreading.running()
        self._listener(Progress(phase, done, total, operations, unit="task", running=running))

    # Verdicts -------------------------------------------------------------------------------

    def _merged(self) -> Merged:
        return merge(self._parts, self._settings.wanted)

    def _sum_up(self, lost: str, started: datetime, seconds: float) -> RunResult:
        merged = self._merged()
        if self._raw.opener is not None and self._parts:
            self._raw.opener.scenes = frozenset.intersection(*(p.scenes for p in self._parts))
        reasons = {} if self._is_place else dict.fromkeys((LENGTH, VERSION, BYTES), _NO_PLACE)
        counts = {"tasks": len(self._parts), **merged.counts}
        binding, settings, evidence = self._binding, self._settings, merged.evidence(lost, reasons)
        result = sum_up(binding, settings, evidence, started, seconds, counts)
        others = (*self._warnings, *self._lost, *self._other_versions())
        warnings = (*merged.warnings, *others)
        return replace(result, warnings=(*warnings, lost) if lost else warnings)

    def _other_versions(self) -> Iterator[str]:
        """Libraries that are others there than here."""
        here = dict(getattr(self._binding, "versions", {}))
        found = {
            f"{name} {version} there, {here[name]} here"
            for part in self._parts
            for name, version in part.versions.items()
            if here.get(name, version) != version
        }
        yield from sorted(f"{self._spreading.name}: {line}" for line in found)


class Elsewhere:
    """Where the tasks of all targets run; it is started when it is first needed."""

    def __init__(self, kind: str, place: str) -> None:
        self.kind = kind
        self._place = place
        self._spreading: Spreading | None = None

    def started(self) -> Spreading:
        """What runs tasks; TargetError, UsageError."""
        if self._spreading is None:
            self._spreading = spreading(self.kind, self._place)
        return self._spreading

    def close(self) -> None:
        """End what was started."""
        found, self._spreading = self._spreading, None
        if found is not None:
            found.close()


class SpreadTarget:
    """A target whose programs are run somewhere else; UsageError if that makes no sense.

    It is made here as well, so that a mistake shows before anything is started.
    """

    #: What its clauses may be about.
    apis: ClassVar[frozenset[str]] = frozenset({STREAM, EXECUTORS})

    def __init__(
        self, target: str, run: RunOptions, known: tuple[Known, ...], elsewhere: Elsewhere
    ) -> None:
        option = f"--{elsewhere.kind}"
        if target == elsewhere.kind:
            raise UsageError(f"{target}: it runs tasks itself, which tasks can't: leave {option}")
        made = resolve_any(target, run)
        if isinstance(made, PipelineBinding):
            raise UsageError(f"{mask_url(target)}: a {made.api}: {option} is for filesystems")
        self.binding: Binding = made
        self._target = target
        self._run = run
        self._known = known
        self._elsewhere = elsewhere

    @property
    def name(self) -> str:
        """That of the binding."""
        return str(self.binding.name)

    def check(self, listener: Listener) -> RunResult:
        """The result of the run; TargetError if there can be none."""
        run, binding = self._run, self.binding
        chosen = selected(run, anything=True)
        clauses = with_checks(chosen) + tuple(c for c in chosen if c.api == EXECUTORS)
        settings = settings_for(binding, run, clauses, self._known, target=self._target)
        there = self._elsewhere.started()
        return SpreadRun(self._target, binding, run, settings, there, listener).check()

    def close(self) -> None:
        """Nothing was started for it alone."""
