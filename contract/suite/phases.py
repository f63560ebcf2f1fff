"""The phases of a run that are streams of programs, in their order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from fscontract.contract.binding import Binding
from fscontract.contract.program import Program
from fscontract.contract.suite.generate import (
    blocks,
    changing,
    exhaustive,
    faulty,
    openings,
    seeded,
)
from fscontract.contract.suite.generate.vectors import Vector, vectors
from fscontract.contract.suite.settings import Settings

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
    total = seeded.PROGRAMS[effort]
    total = max(20, total // 50) if binding.remote else total
    source = seeded.programs(operations, buffer, effort, settings.seed, only)
    yield _Source("seeded", total, itertools.islice(source, total))
    if binding.block not in (None, buffer):
        around = blocks.programs(
            operations, binding.block, effort, settings.seed, binding.remote, only
        )
        yield _Source("blocks", len(around), iter(around))
    if binding.changes and fixed is None and settings.checks("consistency"):
        yield _Source("changes", None, changing.programs(operations, binding.changes, effort))
    yield from _openings(binding, settings, operations, only)
    injector, faults = binding.injector, settings.faults
    if injector is not None and faults is not None and settings.checks("faults"):
        kinds = injector.kinds
        if not settings.profile.has("supports-deadlines"):
            kinds -= {"hang"}
        failing = faulty.programs(operations, kinds, buffer, faults, settings.seed, only)
        if binding.remote:
            few = faulty.drawn(failing, faults, settings.seed)
            yield _Source("faults", len(few), iter(few))
        else:
            yield _Source("faults", None, failing)


def _openings(
    binding: Binding, settings: Settings, operations: frozenset[str], only: int | None
) -> Iterator[_Source]:
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
