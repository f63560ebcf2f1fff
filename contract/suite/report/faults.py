"""What became of reads under each kind of fault, as Markdown: the tables of docs/faults.md."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fscontract.contract.binding import Binding
from fscontract.contract.faults import FAULTS, PLACES, REQUESTS, FaultKind
from fscontract.contract.models.faulty import failed
from fscontract.contract.profile import Profile
from fscontract.contract.program import Program
from fscontract.contract.suite.execute import Execution, Executor
from fscontract.contract.suite.faulty import without_faults
from fscontract.contract.suite.generate.faulty import SMALL, systematic
from fscontract.contract.suite.settings import Settings

_NONE = "-"


class Tally(NamedTuple):
    """What became of the programs that a kind of fault struck: every call worked, a call failed
    cleanly, or a clause was broken."""

    survived: int = 0
    failed: int = 0
    broken: int = 0


def tallies(binding: Binding, profile: Profile, kinds: Iterable[str]) -> dict[str, Tally]:
    """What becomes of reads on a binding, by kind of fault; the same each time.

    The binding is prepared first and disposed of in any case. Raises TargetError. Kinds that its
    injector has not are left out.
    """
    injector = binding.injector
    wanted = [kind for kind in kinds if injector is not None and kind in injector.kinds]
    settings = Settings(profile, ())
    buffer, operations = settings.buffer(binding), settings.operations(binding)
    executor = Executor(binding, profile.features, buffer)
    try:
        binding.prepare()
        return {
            kind: _tally(executor, systematic(operations, frozenset({kind}), buffer, SMALL))
            for kind in wanted
        }
    finally:
        binding.dispose()


def _tally(executor: Executor, programs: Iterable[Program]) -> Tally:
    injector = executor.binding.injector
    assert injector is not None
    found: Counter[str] = Counter()
    for _, alike in itertools.groupby(programs, key=lambda program: program.steps):
        usual: frozenset[int] | None = None
        for program in alike:
            if usual is None:
                usual = _failures(executor.run(without_faults(program), trace=True))
            execution = executor.run(program)
            if injector.fired:
                found[_fate(execution, usual)] += 1
    return Tally(**found)


def _failures(execution: Execution) -> frozenset[int]:
    """Which of the calls failed."""
    trace = enumerate(execution.trace)
    return frozenset(index for index, (_, outcome, _) in trace if failed(outcome))


def _fate(execution: Execution, usual: frozenset[int]) -> str:
    """What became of a program, calls that fail without faults aside."""
    if execution.violation is not None:
        return "broken"
    opened = bool(execution.trace)
    return "survived" if opened and _failures(execution) <= usual else "failed"


def render(columns: Mapping[str, Mapping[str, Tally]]) -> str:
    """A table of the kinds of faults, and one of what came of each in each column."""
    return "\n".join(
        [
            "### Kinds",
            "",
            *_table("kind|what happens|number|requests|where", map(_kind, FAULTS.values())),
            "",
            "### Outcomes",
            "",
            *_table("|".join(("fault", *columns)), (_row(kind, columns) for kind in FAULTS)),
            "",
        ]
    )


def _table(heading: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = heading.split("|")
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _kind(kind: FaultKind) -> tuple[str, ...]:
    number = _NONE if kind.parameter is None else f"`{kind.parameter}`, {kind.default:g}"
    requests = [name for name in REQUESTS if name in kind.requests]
    return (
        f"`{kind.name}`",
        kind.meaning,
        number,
        "any" if len(requests) == len(REQUESTS) else ", ".join(requests),
        ", ".join(place for place in PLACES if place in kind.attaches),
    )


def _row(kind: str, columns: Mapping[str, Mapping[str, Tally]]) -> tuple[str, ...]:
    return (f"`{kind}`", *(_cell(column.get(kind)) for column in columns.values()))


def _cell(tally: Tally | None) -> str:
    if tally is None:
        return _NONE
    broken = f", {tally.broken} broken" if tally.broken else ""
    return f"{tally.survived} / {tally.failed}{broken}"
