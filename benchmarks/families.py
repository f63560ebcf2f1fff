"""Cost and finds of each family of programs: how many there are, their CPU time, and their kills.

    python benchmarks/families.py [--sample N] [--seed S] [--jobs N] [MODULE...]

A family is a source of programs or a check at effort quick, such as `sizes` or `concurrency`. Each
is run alone on mutants of streams and of openFile(), by default all of them, or those of the
MODULEs below `fakes/mutants`. A mutant is killed if its clause is found violated. The CPU time is
that of the correct stream in memory, less that of a run without any program.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any
from unittest.mock import patch

from fscontract.contract.runner import phases, runner
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.kinds import BROKEN, reference_with
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem

SOURCES = (
    *("vectors", "exhaustive", "buffers", "filesystem", "seeded", "blocks", "boundaries"),
    *("ranges", "numbers", "sizes", "counts", "changes", "paths", "openings"),
)
CHECKS = ("search", "status", "resources", "growth", "costs", "concurrency")
FAMILIES = SOURCES + CHECKS


def main() -> None:
    """Print one row for each family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--sample", type=int, metavar="N", help="the number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the sample")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="the number of processes")
    given = parser.parse_args()
    chosen = [m for m in mutants("fsdatainputstream", "openfile") if _is_in(m, given.modules)]
    if given.sample is not None:
        chosen = random.Random(given.seed).sample(chosen, min(given.sample, len(chosen)))
    with ProcessPoolExecutor(given.jobs) as pool:
        killers = dict(zip(chosen, pool.map(_killers, map(str, chosen)), strict=True))
    print(f"{len(chosen)} mutants of {', '.join(given.modules) or 'all modules'}")
    print(
        "| family | programs | seconds | mutants killed | only by it |\n|---|---:|---:|---:|---:|"
    )
    kills = Counter(family for families in killers.values() for family in families)
    alone = Counter(families[0] for families in killers.values() if len(families) == 1)
    nothing, _ = _cost("none")
    for family in FAMILIES:
        seconds, programs = _cost(family)
        cost = max(seconds - nothing, 0)
        row = f"| `{family}` | {programs:,} | {cost:.2f} | {kills[family]} | {alone[family]} |"
        print(row, flush=True)
    for survivor in (m for m, families in killers.items() if not families):
        print(f"survives: {survivor}")


def _is_in(mutant: Mutant, modules: list[str]) -> bool:
    function, _ = vars(mutant.part).get("mutated", (mutant.part, None))
    return not modules or str(function.__module__).rpartition(".")[2] in modules


def _killers(name: str) -> list[str]:
    """Return the families that kill a mutant."""
    mutant = mutant_named(name)
    return [f for f in FAMILIES if mutant.clause in _alone(f, mutant.broken)]


def _alone(family: str, work: Callable[[], Any]) -> Any:
    """Return the result of `work` in which runs have no other programs and checks."""
    sources, checks = phases._sources, phases.check_phases

    def only(context: RunContext) -> Iterator[Any]:
        return (source for source in sources(context) if source.name == family)

    def few(context: RunContext) -> Iterator[phases.Phase]:
        return (phase for phase in checks(context) if phase.name == family)

    with patch.object(phases, "_sources", only), patch.object(runner, "check_phases", few):
        return work()


def _cost(family: str) -> tuple[float, int]:
    """Return the CPU time in seconds, and the number of programs or schedules."""
    binding = StreamBinding(MemoryFileSystem(), "memory")
    settings = Settings(reference_with(), with_checks(clauses().values()))
    start = time.process_time()
    result = _alone(family, partial(runner.check, binding, settings))
    assert not any(c.outcome in BROKEN for c in result.clauses)
    seconds = time.process_time() - start
    return seconds, result.counts.get("schedules", 0) or result.counts.get("programs", 0)


if __name__ == "__main__":
    main()
