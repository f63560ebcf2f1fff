"""Cost of checking: CPU time of a whole run by effort, and model-checked operations per second.

    python benchmarks/suite.py [--effort quick --effort normal]

The rate is that of exhaustive programs on the memory stream in one process. The rows below it omit
layers, so that the differences show the bottleneck.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice

from fscontract.contract.generate import call_sequences
from fscontract.contract.program.program import Program
from fscontract.contract.runner.executor import Executor
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.targets import memory

ROUNDS = 5


def cpu_of(effort: str) -> float:
    """Return the CPU seconds of `fscontract check memory` in a new process, including its start."""
    before = os.times()
    command = [sys.executable, "-m", "fscontract", "check", "memory", "--effort", effort]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def rate(work: Callable[[], int]) -> float:
    """Return the median operations per CPU second of some rounds."""
    rates = []
    for _ in range(ROUNDS):
        start = time.process_time()
        done = work()
        rates.append(done / (time.process_time() - start))
    return sorted(rates)[ROUNDS // 2]


class Layers:
    """The same programs with different work per operation."""

    def __init__(self, executor: Executor, programs: Sequence[Program]) -> None:
        self.executor = executor
        self.programs = programs
        self.operations = sum(len(p.steps) for p in programs)

    def judged(self) -> int:
        """Run everything: open, call, judge, close."""
        for program in self.programs:
            assert self.executor.run(program).violation is None
        return self.operations

    def called(self) -> int:
        """Run only the calls, each program on a new stream."""
        executor = self.executor
        for program in self.programs:
            executor.observe(program)
        return self.operations

    def bare(self) -> int:
        """Run only the calls, on one stream that stays open."""
        executor, length = self.executor, self.programs[0].length
        stream = executor.binding.open(executor.file(length)[0])
        for program in self.programs:
            for step in program.steps:
                if step.op != "close":
                    executor.compile(length, step).action(stream)
        return self.operations


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", action="append", choices=("quick", "normal", "deep"))
    efforts = parser.parse_args().effort or ["quick", "normal"]
    for effort in efforts:
        print(f"check memory --effort {effort:7} {cpu_of(effort):8.1f} s of CPU")
    binding = memory({})
    binding.prepare()
    executor = Executor(binding, load_profile("reference").features, 4096)
    stream_only = frozenset(op for op in binding.operations if not op.startswith("py_"))
    source = call_sequences.short_programs(stream_only, 4096, "normal")
    three = (p for p in source if len(p.steps) == 3 and p.streams == 1)
    main_file = (p for p in three if p.length == call_sequences.LENGTH)
    layers = Layers(executor, list(islice(main_file, 20_000)))
    layers.judged()
    print(
        f"\n{len(layers.programs)} programs of 3 calls on a file of {call_sequences.LENGTH} bytes"
    )
    full = rate(layers.judged)
    print(f"{'opened, called, judged, closed':34} {full:10,.0f} operations/s")
    for name, work in (
        ("opened, called, closed", layers.called),
        ("called on one open stream", layers.bare),
    ):
        value = rate(work)
        print(f"{name:34} {value:10,.0f} operations/s, {full / value:.2f} of it is left above")
    binding.dispose()


if __name__ == "__main__":
    main()
