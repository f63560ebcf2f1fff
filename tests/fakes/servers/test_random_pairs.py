"""Random pairs of a program and a plan of faults: no wrong byte, no hang, no leak.

A failure shows the seed, the program and its plan. `-m deep` runs 10,000 pairs of each.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.generate import call_sequences
from fscontract.contract.program.faults import random_plan
from fscontract.contract.program.program import Program
from fscontract.contract.program.server_faults import SERVER_FAULTS
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import recognise, resolve_target
from fscontract.fakes.faulty_fsspec import faulty
from fscontract.fakes.servers.http_client import HttpFile, opened
from fscontract.fakes.servers.served_binding import served
from tests.fakes.block_files import Blocks
from tests.fakes.servers.own_client import OURS
from tests.limits import DEADLOCK

#: A client of each server, and fsspec's memory behind `faulty`.
TARGETS: dict[str, Callable[[], Binding]] = {
    "http": lambda: served(partial(opened, HttpFile), "a client of HTTP"),
    "s3": lambda: resolve_target("s3", {**OURS, "retries": "1"}, served=True),
    # fsspec's own files in memory share a position
    "faulty::memory": lambda: faulty(recognise(Blocks(), "memory")),
}
#: The most calls of a program.
LONGEST = 8
#: More descriptors or threads than the pools of the clients keep.
POOLED = 25


def pairs(binding: Binding, seed: int) -> Iterator[Program]:
    """Yield random programs with random plans of the faults that the binding has."""
    profile = load_profile(binding.default_profile)
    settings = Settings(profile, ())
    draw = random.Random(f"{seed}:pairs")
    walk = call_sequences.random_programs(
        settings.operations(binding), settings.buffer(binding), "deep", seed
    )
    assert binding.injector is not None
    kinds = binding.injector.kinds - {"errors-in-200"}
    for program in walk:
        steps = program.steps[: draw.randint(1, LONGEST)]
        yield replace(program, steps=steps, faults=random_plan(draw, kinds))


def held() -> int:
    """Return the number of descriptors and threads."""
    directory = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    return len(os.listdir(directory)) + threading.active_count()


def run(name: str, count: int, seed: int) -> None:
    before = held()
    binding = TARGETS[name]()
    binding.prepare()
    struck = 0
    try:
        features = load_profile(binding.default_profile).features
        executor = Executor(binding, features, binding.buffer)
        for program in itertools.islice(pairs(binding, seed), count):
            begun = time.monotonic()
            execution = executor.run(program)
            violation = execution.violation
            assert time.monotonic() - begun < DEADLOCK, (seed, str(program))
            wrong = violation is not None and violation.failure.aspect in ("data", "end")
            assert not wrong, (seed, str(program), violation)
            assert binding.injector is not None
            struck += binding.injector.fired > 0
        assert struck > count // 10, "most pairs would test nothing"
        assert held() - before < POOLED
    finally:
        binding.dispose()


@pytest.mark.parametrize("name", TARGETS)
def test_no_wrong_byte_in_random_pairs(name: str, seed: int) -> None:
    run(name, 500, seed)


@pytest.mark.deep
@pytest.mark.parametrize("name", TARGETS)
def test_no_wrong_byte_in_10000_random_pairs(name: str, seed: int) -> None:
    run(name, 10_000, seed)


def test_each_target_has_the_faults_of_its_place() -> None:
    for name, make in TARGETS.items():
        binding = make()
        assert binding.injector is not None
        of_server = bool(binding.injector.kinds & SERVER_FAULTS.keys())
        assert of_server == ("memory" not in name)
        if of_server:
            binding.dispose()
