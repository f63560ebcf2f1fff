"""Cost and finds of each family of programs: how many there are, their CPU time, and their kills.

    python benchmarks/families.py [MODULE...]

A family is a source of programs at effort quick, such as `sizes`, or the check `concurrency`. Each
is run alone on every mutant of the MODULEs of `fakes/mutants/stream`, by default of those that show
far from the beginning. A mutant is killed if its clause is found violated. The CPU time is that of
the correct stream in memory, less that of a run without any program.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

from fscontract.contract.runner import phases, runner
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.kinds import BROKEN, reference_with
from fscontract.fakes.mutants.registry import Mutant, mutants
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem

FAMILIES = (
    *("vectors", "exhaustive", "buffers", "seeded", "boundaries", "ranges", "numbers", "sizes"),
    *("counts", "changes", "openings", "concurrency"),
)
FAR = ("blocks", "counts", "numbers", "range_lists", "sizes")


def main() -> None:
    """Print one row for each family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=FAR)
    modules = parser.parse_args().modules
    chosen = [m for m in mutants("fsdatainputstream") if _module(m) in modules]
    kills = {family: {m for m in chosen if _kills(family, m)} for family in FAMILIES}
    killers = Counter(m for killed in kills.values() for m in killed)
    nothing, _ = _cost("none")
    print(f"{len(chosen)} mutants of {', '.join(modules)}")
    print(
        "| family | programs | seconds | mutants killed | only by it |\n|---|---:|---:|---:|---:|"
    )
    for family, killed in kills.items():
        seconds, programs = _cost(family)
        alone = sum(killers[m] == 1 for m in killed)
        cost = max(seconds - nothing, 0)
        print(f"| `{family}` | {programs:,} | {cost:.2f} | {len(killed)} | {alone} |", flush=True)
    for survivor in (m for m in chosen if m not in killers):
        print(f"survives: {survivor}")


def _module(mutant: Mutant) -> str:
    function, _ = vars(mutant.part).get("mutated", (mutant.part, None))
    return str(function.__module__).rpartition(".")[2]


def _alone(family: str, work: Callable[[], Any]) -> Any:
    """Return the result of `work` in which runs have no other programs and checks."""
    sources, checks = phases._sources, phases.check_phases

    def only(context: RunContext) -> Iterator[Any]:
        return (source for source in sources(context) if source.name == family)

    def few(context: RunContext) -> Iterator[phases.Phase]:
        return (phase for phase in checks(context) if phase.name == family)

    with patch.object(phases, "_sources", only), patch.object(runner, "check_phases", few):
        return work()


def _kills(family: str, mutant: Mutant) -> bool:
    return mutant.clause in _alone(family, mutant.broken)


def _cost(family: str) -> tuple[float, int]:
    """Return the CPU time in seconds, and the number of programs or schedules."""
    binding = StreamBinding(MemoryFileSystem(), "memory")
    settings = Settings(reference_with(), with_checks(clauses().values()))
    start = time.process_time()
    result = _alone(family, lambda: runner.check(binding, settings))
    assert not any(c.outcome in BROKEN for c in result.clauses)
    seconds = time.process_time() - start
    return seconds, result.counts.get("programs", 0) or result.counts.get("schedules", 0)


if __name__ == "__main__":
    main()
