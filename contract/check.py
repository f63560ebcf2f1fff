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
    read_strict,
    resolve_any,
    selected,
    settings_for,
)
from fscontract.contract.runner.sandbox import name_of
from fscontract.contract.runner.time_budget import EFFORTS
from fscontract.contract.scenarios.check import check_pipeline
from fscontract.contract.spec.clauses import STREAM, Clause
from fscontract.contract.spec.known_failures import Known, load_known
from fscontract.contract.targets import UsageError, bind_connector, with_faults, with_only_file

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
    server_faults: bool = False,
    seed: int = 0,
    timeout: float = 10.0,
    budget: float | None = None,
    fail_on: str | Sequence[str] = (),
    strict: bool | str | Sequence[str] = False,
    listener: Callable[[Event], None] = _ignore,
) -> RunResult:
    """Check a target for conformance in this process, and return the result without secrets.

    `target` is a name, URL or `file.py:callable` as on the command line, with its `options`, and
    for a read-only store `file` and `content`; or a filesystem, a callable that returns one, or a
    binding. `clauses` are ids, groups or globs, and so is `exclude`, which removes clauses from
    them. `faults`, an effort, adds programs whose requests fail. `server_faults` adds programs
    while a server on loopback misbehaves, which the target or its `options` name by `{url}` and the
    other placeholders of the command line. `timeout` is in seconds for one call, and `budget` for
    the run: `math.inf` for no limit, None for that of the effort. With `fail_on`, only failures
    with these consequences make the result not conform; with `strict`, or "inherited", those
    inherited from base classes of other packages do, too; with "hadoop", Hadoop's own tests count
    where they are stricter than its documents. `listener` gets each event.

    Raises UsageError, or another ValueError, for invalid arguments, and TargetError if the target
    can't be set up. A target that crashes also crashes this process, unlike `fscontract check`.
    """
    _require_efforts(effort=effort, faults=faults or effort)
    run = RunOptions(
        profile=profile,
        features=tuple(features),
        clauses=_listed(clauses),
        exclude=_listed(exclude),
        effort=effort,
        faults=faults,
        server_faults=server_faults,
        seed=seed,
        timeout=timeout,
        budget=budget,
        fail_on=_listed(fail_on),
        strict=read_strict(strict),
        options=dict(options or {}),
        file=file,
        content=None if content is None else Path(content),
    )
    failures = () if known is None else load_known(Path(known))
    bound = InProcess(_bind(target, run), run, selected(run, anything=True), failures)
    if not bound.clauses:
        raise UsageError("no testable clause is selected; see 'fscontract list'")
    return bound.check(listener).redacted(run.options)


def _require_efforts(**efforts: str) -> None:
    """Raise UsageError if a value is not an effort."""
    for name, value in efforts.items():
        if value not in EFFORTS:
            raise UsageError(f"unknown {name} {value!r}; known: {', '.join(EFFORTS)}")


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return the values of an argument that may be a single one."""
    return (value,) if isinstance(value, str) else tuple(value)


class InProcess:
    """A target that is checked in this process, by the clauses that apply to it.

    With its name as the user typed it, a run writes replay files.
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
        settings = settings_for(binding, run, self.clauses, known, target=self._typed)
        if isinstance(binding, PipelineBinding):
            return check_pipeline(binding, settings, listener)
        return runner.check(binding, settings, listener)

    def close(self) -> None:
        """Do nothing: the run has removed what it made."""


def _bind(target: Target, run: RunOptions) -> Binding | PipelineBinding:
    if isinstance(target, str):
        return resolve_any(target, run)
    if run.options or run.server_faults:
        raise UsageError("options and server_faults require a name or a URL as target")
    name = getattr(target, "__name__", type(target).__name__)
    binding = target if isinstance(target, PipelineBinding) else bind_connector(target, name)
    if (run.file, run.content) != (None, None):
        binding = with_only_file(binding, name, run.file, run.content)
    return with_faults(binding, name) if run.faults is not None else binding
