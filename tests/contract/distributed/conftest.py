"""A backend that runs tasks in this process one after the other, and targets for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from pathlib import Path
from textwrap import dedent

import pytest

from fscontract.contract.concurrency.check import AMOUNTS, Amount
from fscontract.contract.distributed.backend import Backend, Work
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.generate import call_sequences
from fscontract.contract.runner.events import Event
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import Profile, load_profile
from fscontract.contract.targets import resolve_target

#: A module of targets that are named by words, as every task has to make them for itself.
TARGETS = dedent(
    """
    import threading

    from fscontract.fakes.mutants.registry import mutant_named
    from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

    def mutant(name):
        return mutant_named(name).binding()

    never = threading.Event()

    class HangingStream(MemoryInputStream):
        def skip(self, count):
            while count >= 0:
                never.wait(0.05)
            return super().skip(count)

    class FarFromAnyProgram(MemoryInputStream):
        def read_byte(self):
            at = self.get_pos()
            value = super().read_byte()
            return value ^ 255 if at == 54_321 else value

    def Far():
        return MemoryFileSystem(stream_class=FarFromAnyProgram)

    def Hanging():
        return MemoryFileSystem(stream_class=HangingStream)

    def token(token):
        raise OSError(f"no way in with {token}")
    """
)


#: As many of the short programs as tests run of them.
_PROGRAMS = 1200


class Here(Backend):
    """Run each task when it is submitted."""

    name = "this process"

    def __init__(self, parallelism: int = 1) -> None:
        self._parallelism = parallelism
        self.descriptions: list[str] = []
        self.cancelled = False

    @property
    def parallelism(self) -> int:
        """Return the number that was given."""
        return self._parallelism

    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Run the task."""
        self.descriptions.append(description)
        future: Future[str] = Future()
        try:
            future.set_result(work(request))
        except Exception as error:
            future.set_exception(error)
        return future

    def cancel(self) -> None:
        """Remember the call: no task is still running."""
        self.cancelled = True

    def close(self) -> None:
        """Do nothing: nothing was started."""


def options(**more: object) -> RunOptions:
    """Return the options of a run."""
    plain = RunOptions(None, (), (), "all", "quick", None, 0, 10.0, {}, None, None)
    return replace(plain, **more)  # type: ignore[arg-type]


class Bench:
    """Run a target in one process, and in shards."""

    def __init__(self, target: str, run: RunOptions, profile: Profile) -> None:
        self.target = target
        self.run = run
        chosen = with_checks(c for c in select(run.clauses) if c.document != "faults")
        self.settings = Settings(
            profile, chosen, seed=run.seed, effort=run.effort, timeout=run.timeout
        )
        self.events: list[Event] = []

    def whole(self) -> RunResult:
        """Return the result of a run in one process."""
        return check(resolve_target(self.target, self.run.options), self.settings)

    def parts(self, count: int, backend: Backend | None = None) -> RunResult:
        """Return the result of the same run in shards."""
        binding = resolve_target(self.target, self.run.options)
        return DistributedRun(
            self.target,
            binding,
            self.run,
            self.settings,
            backend or Here(),
            self.events.append,
            count,
        ).check()


MakeBench = Callable[..., Bench]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeBench:
    """Return a function that makes benches: of `memory`, or of a named mutant; runs have few
    programs."""
    monkeypatch.chdir(tmp_path)
    every = call_sequences.short_rows
    monkeypatch.setattr(call_sequences, "short_rows", lambda *args: islice(every(*args), _PROGRAMS))
    monkeypatch.setitem(AMOUNTS, "quick", Amount(10, 4, 3, 2, 8))
    (tmp_path / "mutated.py").write_text(TARGETS)

    def make(mutant: str = "", target: str = "memory", **more: object) -> Bench:
        if not mutant:
            place = target if ":" not in target else f"{tmp_path}/{target}"
            return Bench(place, options(**more), load_profile("reference"))
        from fscontract.fakes.mutants.registry import mutant_named

        run = options(options={"name": mutant}, **more)
        return Bench(f"{tmp_path}/mutated.py:mutant", run, mutant_named(mutant).profile())

    return make
