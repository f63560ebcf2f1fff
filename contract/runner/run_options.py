"""Options of a run: the clauses that they select, and the settings that they make.

Every front end builds its runs here: commands, `fscontract.check`, the pytest plug-in, processes of
isolated runs and tasks of distributed ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fscontract.contract import targets
from fscontract.contract.binding import Binding
from fscontract.contract.models.transition_table import HADOOP_TESTS
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.runner.replay_files import DIRECTORY, ReplayFiles
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.time_budget import BUDGETS
from fscontract.contract.script.calls import Source
from fscontract.contract.spec.clauses import (
    FAULTS,
    SERVER_FAULTS,
    STREAM,
    Clause,
    Consequence,
    Level,
    near_misses,
    select,
)
from fscontract.contract.spec.known_failures import Known, applying
from fscontract.contract.spec.profiles import NO_PROFILE, Profile, load_profile
from fscontract.contract.targets import UsageError
from fscontract.contract.text import mask_url

#: Levels of clauses by the value of `--level`.
_LEVELS = {"must": {Level.MUST}, "should": {Level.MUST, Level.SHOULD}, "all": set(Level)}
#: Seconds to set up a target: a multiple of the time limit of a program, and at least this.
_SET_UP_PROGRAMS, _SET_UP = 6, 60.0


@dataclass(frozen=True)
class RunOptions:
    """Options of a run as a user gives them, before anything is loaded."""

    profile: str | None = None
    features: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    level: str = "all"
    effort: str = "quick"
    faults: str | None = None
    seed: int = 0
    timeout: float = 10.0
    #: Options of the target.
    options: dict[str, str] = field(default_factory=dict)
    file: str | None = None
    content: Path | None = None
    #: The master of Spark whose executors run the programs, None for this process.
    spark: str | None = None
    #: The number of processes that run the programs.
    jobs: int = 1
    #: Seconds for the run, math.inf for no limit; None for those of the effort.
    budget: float | None = None
    #: "inherited": fail for failures of base classes, too; "hadoop": count Hadoop's own tests.
    strict: tuple[str, ...] = ()
    #: Names of consequences whose failures fail the run; empty for those of the profile.
    fail_on: tuple[str, ...] = ()
    #: Clauses that `clauses` selects, but that are not checked.
    exclude: tuple[str, ...] = ()
    #: True to end the run with the first failure.
    fail_fast: bool = False
    #: A function that returns the stored form of bytes, for a target that opens a path.
    encode: str | None = None
    #: True to run the target as a client of a misbehaving server.
    server_faults: bool = False


def selected(run: RunOptions, anything: bool = False) -> tuple[Clause, ...]:
    """Return the testable clauses of streams, or of `anything`, that the options select."""
    excluded = {clause.id for clause in select(run.exclude)} if run.exclude else frozenset()
    return tuple(
        clause
        for clause in select(run.clauses)
        if clause.testable
        and clause.id not in excluded
        and clause.level in _LEVELS[run.level]
        and (anything or clause.api == STREAM)
        and (clause.document != FAULTS or run.faults is not None)
        and (clause.document != SERVER_FAULTS or run.server_faults)
    )


def resolve(target: str, run: RunOptions) -> Binding:
    """Return the binding of a target; TargetError or UsageError."""
    home = os.getpid()
    binding = targets.resolve_target(target, run.options, *_how(run))
    leave_fork(home)
    return binding


def resolve_any(target: str, run: RunOptions) -> Binding | PipelineBinding:
    """Return the binding of a target, which may be part of a pipeline; TargetError, UsageError."""
    home = os.getpid()
    binding = targets.resolve_any(target, run.options, *_how(run))
    leave_fork(home)
    return binding


def _how(run: RunOptions) -> tuple[str | None, Path | None, bool, str | None, bool]:
    return run.file, run.content, run.faults is not None, run.encode, run.server_faults


def set_up_limit(timeout: float) -> float:
    """Return how many seconds a target may take to be made; `timeout` is that of a program."""
    return max(_SET_UP, _SET_UP_PROGRAMS * timeout)


def leave_fork(home: int) -> None:
    """End this process if it is a fork of `home` that a target made."""
    if os.getpid() != home:
        os._exit(0)


def profile_of(default: str | None, run: RunOptions) -> Profile:
    """Return the profile the user chose, or the default, with the features the user added."""
    tests = (HADOOP_TESTS,) if "hadoop" in run.strict else ()
    name = run.profile or default
    profile = NO_PROFILE if name is None else load_profile(name)
    return profile.with_features((*run.features, *tests)).promising(run.features)


def budget_of(run: RunOptions) -> float:
    """Return the time limit of a run in seconds: the given one, or that of its effort."""
    return BUDGETS[run.effort] if run.budget is None else run.budget


def settings_for(
    binding: Binding | PipelineBinding,
    run: RunOptions,
    clauses: tuple[Clause, ...],
    known: Sequence[Known] = (),
    *,
    profile: Profile | None = None,
    target: str | None = None,
) -> Settings:
    """Return the settings of a run on one binding.

    Known failures are those of `known` and of the profile: the given one, or that of the options.
    With the `target` as the user typed it, the run writes replay files, which name it.
    """
    default = None if isinstance(binding, PipelineBinding) else binding.default_profile
    profile = profile or profile_of(default, run)
    return Settings(
        profile=profile,
        clauses=clauses,
        effort=run.effort,
        faults=run.faults,
        server_faults=run.server_faults,
        seed=run.seed,
        known=applying(known, profile.known, profile.name, binding.name),
        timeout=run.timeout,
        strict="inherited" in run.strict,
        fail_on=read_consequences(run.fail_on or profile.fail_on),
        budget=budget_of(run),
        replays=replay_files(target, run),
        fail_fast=run.fail_fast,
        source=None if target is None else source_of(target, run),
    )


def read_strict(strict: bool | str | Iterable[str]) -> tuple[str, ...]:
    """Return the values of `strict`, True for "inherited"; UsageError."""
    if isinstance(strict, bool):
        return ("inherited",) if strict else ()
    names = (strict,) if isinstance(strict, str) else tuple(strict)
    for name in names:
        if name not in ("inherited", "hadoop"):
            raise UsageError(f"unknown value of strict: {name!r}; expected inherited or hadoop")
    return names


def read_consequences(names: Iterable[str]) -> tuple[Consequence, ...]:
    """Return the consequences of these names; UsageError."""
    known = [c.value for c in Consequence]
    for name in names:
        if name not in known:
            hint = near_misses(name, known) or f"; known: {', '.join(known)}"
            raise UsageError(f"unknown consequence {name!r}{hint}")
    return tuple(c for c in Consequence if c.value in names)


def _selection(run: RunOptions) -> dict[str, Any]:
    """Return the options that leave clauses out, as a field of replay files, if there are any."""
    chosen = {"clauses": list(run.clauses), "exclude": list(run.exclude), "level": run.level}
    whole = {"clauses": [], "exclude": [], "level": "all"}
    return {} if chosen == whole else {"selection": chosen}


def source_of(target: str, run: RunOptions) -> Source:
    """Return what a script needs to make the target again."""
    return Source(target, run.options, run.file, run.content)


def replay_files(target: str | None, run: RunOptions) -> ReplayFiles | None:
    """Return where a run on a target writes replay files, None if it can't or has no name."""
    if target is None or not os.access(".", os.W_OK):
        return None
    return ReplayFiles(DIRECTORY, {**replay_fields(target, run), **_selection(run)})


def replay_fields(target: str, run: RunOptions) -> dict[str, Any]:
    """Return what a replay needs to resolve the target again; names of options, no values."""
    fields: dict[str, Any] = {"target": mask_url(target)}
    if run.options:
        fields["options"] = sorted(run.options)
    if run.profile is not None:
        fields["profile"] = run.profile
    if run.file is not None and run.content is not None:
        fields |= {"file": mask_url(run.file), "content": str(run.content)}
    if run.encode is not None:
        fields["encode"] = run.encode
    return fields
