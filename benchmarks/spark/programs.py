"""Programs checked per second: in one process, and by Spark executors.

    python benchmarks/spark/programs.py [--effort quick] [--rounds 3] [--master local[2] ...]

The target is the in-memory filesystem, with all clauses of streams. Sessions and workers are
started before timing. Each rate is the median of some rounds; verdicts must equal those of one
process.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence

from fscontract.contract.distributed.backend import Backend
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import FAULTS, select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.spark.distributed_runs import spark
from fscontract.implementations.targets import memory

MASTERS = ("local[1]", "local[2]", "local-cluster[2,1,1024]")


def settings(effort: str, clauses: Sequence[str] = ()) -> Settings:
    """Return settings with all stream clauses."""
    chosen = with_checks(c for c in select(clauses) if c.document != FAULTS)
    return Settings(load_profile("reference"), chosen, effort=effort)


def here(effort: str) -> RunResult:
    """Run in this process."""
    return check(memory({}), settings(effort))


def there(backend: Backend, effort: str, clauses: Sequence[str] = ()) -> RunResult:
    """Run the same on executors."""
    run = RunOptions(None, (), tuple(clauses), "all", effort, None, 0, 10.0, {}, None, None)
    return DistributedRun("memory", memory({}), run, settings(effort, clauses), backend).check()


def rate(results: Sequence[RunResult]) -> float:
    """Return the programs per second."""
    return statistics.median(r.counts["programs"] / r.seconds for r in results)


def rates(masters: Sequence[str], effort: str, rounds: int) -> Iterator[tuple[str, float]]:
    """Yield where programs run, and the programs per second."""
    plain = [here(effort) for _ in range(rounds)]
    outcomes = [c.outcome for c in plain[0].clauses]
    yield "one process, without Spark", rate(plain)
    for master in masters:
        backend = spark(master)
        try:
            there(backend, "quick", ("capabilities",))  # workers import modules here
            found = [there(backend, effort) for _ in range(rounds)]
        finally:
            backend.close()
        assert all([c.outcome for c in result.clauses] == outcomes for result in found)
        yield master, rate(found)


def table(found: Sequence[tuple[str, float]], effort: str) -> Iterator[str]:
    """Return rates as a Markdown table, with that of one process and of one core."""
    plain, one = found[0][1], dict(found).get("local[1]")
    yield f"| `memory`, effort {effort} | programs a second | of one process | of local[1] |"
    yield "|---|---:|---:|---:|"
    for name, number in found:
        beside = f"{number / one:.2f}" if one and name.startswith("local") else ""
        yield f"| {name} | {number:,.0f} | {number / plain:.2f} | {beside} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Programs checked per second.")
    parser.add_argument("--effort", default="quick", choices=["quick", "normal", "deep"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--master", action="append")
    asked = parser.parse_args(arguments)
    found = list(rates(asked.master or MASTERS, asked.effort, asked.rounds))
    for line in table(found, asked.effort):
        print(line)


if __name__ == "__main__":
    main()
