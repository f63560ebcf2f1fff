"""The phases of a run that are streams of programs, in their order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from fscontract.contract.binding import Binding
from fscontract.contract.program import Program
from fscontract.contract.suite.generate import changing, exhaustive, faulty, openings, seeded
from fscontract.contract.suite.generate.vectors import Vector, vectors
from fscontract.contract.suite.settings import Settings

Item: TypeAlias = Program | Vector


class Phase(NamedTuple):
    """Programs of one source; `total` is how many, None if that is not known beforehand."""

    name: str
    total: int | None
    items: Iterator[Item]


def phases(
    binding: Binding, settings: Settings, operations: frozenset[str], buffer: int
) -> Iterator[Phase]:
    """What to run on a binding, without the programs that tell nothing of the wanted clauses.

    Of a target whose calls cost round trips fewer programs are made.
    """
    for name, total, items in _phases(binding, settings, operations, buffer):
        yield Phase(name, total, _telling(items, settings))


def _phases(
    binding: Binding, settings: Settings, operations: frozenset[str], buffer: int
) -> Iterator[Phase]:
    effort, fixed = settings.effort, binding.fixed_content
    only = None if fixed is None else len(fixed)
    declared = [c for c in settings.clauses if not settings.profile.satisfies(c.needs)]
    yield Phase("vectors", None, vectors(declared, operations, only))
    if binding.remote:
        quick = exhaustive.programs(operations, buffer, "quick", only)
        yield _sampled("exhaustive", quick, exhaustive.REMOTE_PROGRAMS[effort], settings)
    else:
        enumerated = exhaustive.programs(operations, buffer, effort, only)
        yield Phase("exhaustive", None, enumerated)
    total = seeded.PROGRAMS[effort]
    total = max(20, total // 50) if binding.remote else total
    source = seeded.programs(operations, buffer, effort, settings.seed, only)
    yield Phase("seeded", total, itertools.islice(source, total))
    if binding.changes and fixed is None and settings.checks("consistency"):
        yield Phase("changes", None, changing.programs(operations, binding.changes, effort))
    yield from _openings(binding, settings, operations, only)
    injector, faults = binding.injector, settings.faults
    if injector is not None and faults is not None and settings.checks("faults"):
        kinds = injector.kinds
        if not settings.profile.has("supports-deadlines"):
            kinds -= {"hang"}
        failing = faulty.programs(operations, kinds, buffer, faults, settings.seed, only)
        if binding.remote:
            few = faulty.drawn(failing, faults, settings.seed)
            yield Phase("faults", len(few), iter(few))
        else:
            yield Phase("faults", None, failing)


def _openings(
    binding: Binding, settings: Settings, operations: frozenset[str], only: int | None
) -> Iterator[Phase]:
    opener, profile, effort = binding.opener, settings.profile, settings.effort
    if opener is None or not profile.has("supports-openfile") or not settings.checks("openfile"):
        return
    source = openings.programs(
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
        yield _sampled("openings", source, openings.REMOTE[effort], settings)
    else:
        yield Phase("openings", None, source)


def _sampled(name: str, source: Iterable[Program], most: int, settings: Settings) -> Phase:
    drawn = exhaustive.sampled(source, most, settings.seed)
    return Phase(name, len(drawn), iter(drawn))


def _telling(items: Iterator[Item], settings: Settings) -> Iterator[Item]:
    """Those that can tell something of the clauses that are judged."""
    relevant = settings.relevant
    if relevant is None or settings.checks("consistency"):
        return items
    return (item for item in items if isinstance(item, Vector) or _tells(item, relevant))


def _tells(program: Program, operations: frozenset[str]) -> bool:
    special = program.opening is not None or program.faults is not None
    return special or any(step.op in operations for step in program.steps)
