"""Schedules per second of the concurrency checks, on the memory stream.

python benchmarks/schedules.py [seconds]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from random import Random

from fscontract.contract.concurrency.execution import ScheduleRunner
from fscontract.contract.concurrency.programs import (
    FAMILIES,
    SMALL,
    long_threads,
    random_switches,
    random_threads,
)
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem

_FREE_CALLS = 20


def controlled(runner: ScheduleRunner, opcodes: bool) -> Iterator[Schedule]:
    """Run random programs of every family in turn, under random thread switches."""
    rng = Random(1)
    while True:
        for family in FAMILIES:
            seed = rng.getrandbits(32)
            threads = random_threads(family, seed, runner.binding.operations, SMALL, runner.buffer)
            serial = Schedule(SMALL, threads, opcodes=opcodes)
            counts = runner.run(serial).counts
            yield Schedule(SMALL, threads, random_switches(counts, rng), opcodes)


def free(runner: ScheduleRunner) -> Iterator[Schedule]:
    """Run long programs of every family in turn, with free-running threads."""
    rng = Random(1)
    while True:
        for family in FAMILIES:
            seed = rng.getrandbits(32)
            ops, buffer = runner.binding.operations, runner.buffer
            threads = long_threads(family, seed, ops, SMALL, buffer, _FREE_CALLS)
            yield Schedule(SMALL, threads, free=True)


def measure(
    name: str, make: Callable[[ScheduleRunner], Iterator[Schedule]], seconds: float
) -> None:
    """Run schedules for some seconds, and print their rate."""
    binding = StreamBinding(MemoryFileSystem(), "memory")
    binding.prepare()
    runner = ScheduleRunner(binding, lambda _: None, 4096, 2.0)
    start = time.perf_counter()
    for schedule in make(runner):
        runner.run(schedule)
        if time.perf_counter() - start > seconds:
            break
    elapsed = time.perf_counter() - start
    runner.close()
    rate, calls = runner.schedules / elapsed, runner.operations / elapsed
    print(f"{name:<24} {rate:8.0f} schedules/s {calls:10.0f} calls/s")


if __name__ == "__main__":
    time_each = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    measure("controlled, lines", lambda runner: controlled(runner, False), time_each)
    measure("controlled, instructions", lambda runner: controlled(runner, True), time_each)
    measure("free-running", free, time_each)
