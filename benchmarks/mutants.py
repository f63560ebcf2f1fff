"""Mutation results: mutants that the suite kills, and the clauses that it names for each.

    python benchmarks/mutants.py [--effort quick|normal|deep] [PATTERN...]

A mutant is a part, such as a stream, a filesystem or a splitter, that breaks one clause. Each is
checked with all clauses of its document. A row shows whether that clause was named, at which
effort, the duration of the run, and the other clauses found broken. A PATTERN is a glob on
"clause-Mutant".
"""

from __future__ import annotations

import argparse
import statistics
import sys
from fnmatch import fnmatchcase

from fscontract.contract.runner.time_budget import EFFORTS
from fscontract.fakes.mutants.registry import Row, kill_table, mutants


def main() -> int:
    """Print the table; return 1 if a mutant survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", choices=EFFORTS, help="try this effort only")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    options = parser.parse_args()
    patterns = options.patterns or ["*"]
    chosen = [m for m in mutants() if any(fnmatchcase(str(m), p) for p in patterns)]
    efforts = (options.effort,) if options.effort else ()
    rows = []
    for row in kill_table(chosen, efforts):
        _show(row)
        rows.append(row)
    _sum_up(rows)
    return 0 if all(row.named for row in rows) else 1


def _show(row: Row) -> None:
    others = f"  also: {' '.join(row.others)}" if row.others else ""
    print(
        f"{row.mutant!s:52} {row.effort or 'SURVIVES':8} {row.seconds:6.1f} s{others}", flush=True
    )


def _sum_up(rows: list[Row]) -> None:
    if not rows:
        print("no mutant matches")
        return
    named = sum(row.named for row in rows)
    alone = sum(row.named and not row.others for row in rows)
    beside = sum(len(row.others) for row in rows)
    print(f"\n{named} of {len(rows)} mutants named ({named / len(rows):.0%})")
    for effort in EFFORTS:
        count = sum(row.effort == effort for row in rows)
        if count:
            print(f"  {count} at effort {effort}")
    print(f"{alone} of them with no other clause beside; {beside} other clauses in all")
    print(f"median run {statistics.median(row.seconds for row in rows):.1f} s")


if __name__ == "__main__":
    sys.exit(main())
