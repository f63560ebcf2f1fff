"""Growth of time with size: of files, lists of ranges, requests, tables and tasks.

    python -m benchmarks.growth [--quick] [--only NAME] [--rounds N]

Each subject is timed at increasing sizes, beside a peer that does the same. Prints a Markdown table
for each, the medians of rounds in which both alternate, and the exponents: 1 is a straight line, 2
a square. Exits with 1 if an exponent of ours exceeds the limit of its subject.
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from benchmarks.growth.subjects import SUBJECTS, Run, Subject

#: The number of sizes from which an exponent is computed, the largest: small ones show fixed costs.
_LAST = 3


class Point(NamedTuple):
    """The median times at one size, in seconds."""

    size: int
    ours: float
    peer: float


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent k of the best fit of `c * size ** k` to the largest sizes."""
    x = [math.log(size) for size in sizes[-_LAST:]]
    y = [math.log(one) for one in times[-_LAST:]]
    return statistics.linear_regression(x, y).slope


def measure(subject: Subject, sizes: Sequence[int], rounds: int) -> list[Point]:
    """Time a subject at all sizes."""
    with ExitStack() as stack:
        make = subject.start(stack, max(sizes))
        return [_at(size, *make(size, stack), rounds) for size in sizes]


def _at(size: int, ours: Run, peer: Run, rounds: int) -> Point:
    """Time both; raise AssertionError if they do not read or find the same amount."""
    runs = {"ours": ours, "peer": peer}
    times: dict[str, list[float]] = {name: [] for name in runs}
    amounts = set()
    for number in range(rounds + 1):
        for name in runs if number % 2 else reversed(runs):
            gc.collect()
            gc.disable()  # as timeit does: its share grows with the objects of the process
            start = time.perf_counter()
            amounts.add(runs[name]())
            taken = time.perf_counter() - start
            gc.enable()
            if number:  # the first one fills caches
                times[name].append(taken)
    assert len(amounts) == 1, f"{amounts} at {size}"
    return Point(size, statistics.median(times["ours"]), statistics.median(times["peer"]))


def table(subject: Subject, points: Sequence[Point]) -> Iterator[str]:
    """Yield the lines of the Markdown table of a subject."""
    yield f"| {subject.unit} | fscontract | {subject.peer} | straight line |"
    yield "| ---: | ---: | ---: | ---: |"
    first = points[0]
    for point in points:
        line = first.ours * point.size / first.size
        cells = map(_milliseconds, (point.ours, point.peer, line))
        yield f"| {point.size:,} | {' | '.join(cells)} |"


def _milliseconds(seconds: float) -> str:
    """Return three digits, without an exponent."""
    return f"{float(f'{seconds * 1e3:.3g}'):,g}"


def exponents(points: Sequence[Point]) -> tuple[float, float]:
    """Return the exponents of our times and of the peer's."""
    sizes = [point.size for point in points]
    ours = exponent(sizes, [point.ours for point in points])
    return ours, exponent(sizes, [point.peer for point in points])


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--quick", action="store_true", help="without the largest size")
    parser.add_argument("--only", action="append", choices=[s.name for s in SUBJECTS])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args(arguments)
    too_steep = []
    for subject in SUBJECTS:
        if asked.only and subject.name not in asked.only:
            continue
        sizes = subject.sizes[:-1] if asked.quick else subject.sizes
        points = measure(subject, sizes, asked.rounds)
        ours, peer = exponents(points)
        print(f"### {subject.title}\n")
        print("\n".join(table(subject, points)))
        print(f"\nExponents: {ours:.2f} (limit {subject.limit}), {subject.peer} {peer:.2f}.\n")
        sys.stdout.flush()
        if ours > subject.limit:
            too_steep.append(subject.name)
    for name in too_steep:
        print(f"the time grows too fast: {name}", file=sys.stderr)
    return int(bool(too_steep))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
