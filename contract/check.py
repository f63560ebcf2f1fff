"""Run the suite on one target from Python: `fscontract.check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fscontract.contract.binding import Binding
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner import runner
from fscontract.contract.runner.events import Event, Listener
from fscontract.contract.runner.run_options import (
    RunOptions,
    budget_of,
    read_strict,
    resolve_any,
    selected,
    settings_for,
)
from fscontract.contract.runner.sandbox import name_of
from fscontract.contract.runner.settings import EFFORTS
from fscontract.contract.scenarios.check import check_pipeline
from fscontract.contract.spec.clauses import STREAM, Clause
from fscontract.contract.spec.known_failures import Known, load_known
from fscontract.contract.targets import UsageError, bind_connector

if TYPE_CHECKING:
    from fscontract.contract.runner.result import RunResult

#: A target: a name, URL or `file.py:callable` as on the command line; a filesystem, or a callable
#: that returns one; or a binding, including one to a part of a pipeline.
Target: TypeAlias = "str | Binding | PipelineBinding | Callable[[], Any] | Any"


def _ignore(event: Event) -> None:
    """Ignore an event."""


def check(
    target: Target,
    *,
    options: Mapping[str, str] | None = None,
    file: str | None = None,
    content: str | Path | None = None,
    profile: str | None = None,
    features: Sequence[str] = (),
    clauses: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    known: str | Path | None = None,
    effort: str = "quick",
    faults: str | None = None,
    seed: int = 0,
    timeout: float = 10.0,
    budget: float | None = None,
    fail_on: str | Sequence[str] = (),
    strict: bool | str | Sequence[str] = False,
    listener: Callable[[Event], None] = _ignore,
) -> RunResult:
    """Check a target for conformance in this process, and return the result without secrets.

    `target` is a name, URL or `file.py:callable` as on the command line, with its `options`, and
    for a read-only URL `file` and `content`; or a filesystem, a callable that returns one, or a
    binding. `clauses` are ids, groups or globs, and so is `exclude`, which removes clauses from
    them. `faults`, an effort, adds programs whose requests fail. `timeout` is in seconds for one
    call, and `budget` for the run: `math.inf` for no limit, None for that of the effort. With
    `fail_on`, only failures with these consequences make the result not conform; with `strict`,
    or "inherited", those inherited from base classes of other packages do, too; with "hadoop",
    Hadoop's own tests count where they are stricter than its documents. `listener` gets each event.

    Raises UsageError, or another ValueError, for invalid arguments, and TargetError if the target
    can't be set up. A target that crashes also crashes this process: `fscontract check` runs
    targets in a separate process.
    """
    for name, value in (("effort", effort), ("faults", faults or effort)):
        if value not in EFFORTS:
            raise UsageError(f"unknown {name} {value!r}; known: {', '.join(EFFORTS)}")
    run = RunOptions(
        profile=profile,
        features=tuple(features),
        clauses=(clauses,) if isinstance(clauses, str) else tuple(clauses),
        exclude=(exclude,) if isinstance(exclude, str) else tuple(exclude),
        effort=effort,
        faults=faults,
        seed=seed,
        timeout=timeout,
        budget=budget,
        fail_on=(fail_on,) if isinstance(fail_on, str) else tuple(fail_on),
        strict=read_strict(strict),
        options=dict(options or {}),
        file=file,
        content=None if content is None else Path(content),
    )
    known_failures = () if known is None else load_known(Path(known))
    selection = selected(run, anything=True)
    bound = InProcess(_bind(target, run), run, selection, known_failures)
    if not bound.clauses:
        raise UsageError("no testable clause is selected; see 'fscontract list'")
    return bound.check(listener).redacted(run.options)


class InProcess:
    """A target that is checked in this process, by the clauses that apply to it.

    With its name as the user typed it, a run on a filesystem writes replay files.
    """

    def __init__(
        self,
        binding: Binding | PipelineBinding,
        run: RunOptions,
        clauses: Sequence[Clause],
        known: Sequence[Known] = (),
        typed: str | None = None,
    ) -> None:
        self.name = name_of(binding)
        is_part = isinstance(binding, PipelineBinding)
        #: The APIs of the clauses that apply to it.
        self.apis = frozenset({binding.api if is_part else STREAM})
        self.clauses = tuple(c for c in clauses if c.api in self.apis and c.testable)
        self._binding = binding
        self._run = run
        self._known = known
        self._typed = typed

    def check(self, listener: Listener) -> RunResult:
        """Return the result of the run; TargetError if there can be none."""
        binding, run, known = self._binding, self._run, self._known
        if isinstance(binding, PipelineBinding):
            clauses, timeout = self.clauses, run.timeout
            return check_pipeline(
                binding, clauses, known, timeout, listener, run.fail_fast, budget_of(run)
            )
        settings = settings_for(binding, run, self.clauses, known, target=self._typed)
        return runner.check(binding, settings, listener)

    def close(self) -> None:
        """Do nothing: the run has removed what it made."""


def _bind(target: Target, run: RunOptions) -> Binding | PipelineBinding:
    if isinstance(target, str):
        return resolve_any(target, run)
    if run.options or run.file is not None or run.content is not None:
        raise UsageError("options, file and content require a name or a URL as target")
    if isinstance(target, PipelineBinding):
        return target
    return bind_connector(target, getattr(target, "__name__", type(target).__name__))
