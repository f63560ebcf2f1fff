"""Tests of block readers under faults, on every kind of store: no lost or duplicate record.

Or an error that names path, block and offset, after which reading can continue.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fscontract.contract.program.faults import CHECKED, FAULTS, Fault, FaultPlan, random_plan
from fscontract.fakes.faulty_s3 import FaultyS3Binding
from tests.pipeline.faults.mutants import MUTANTS
from tests.pipeline.faults.support import (
    CASES,
    Case,
    FakePlace,
    LocalPlace,
    MakeReader,
    Place,
    S3Place,
    reader_of,
    violation,
)

PLACES = ("fake", "local", "s3")
#: Kinds that take real time on real stores.
SLOW = ("timeout", "hang")


@pytest.fixture(scope="module")
def bucket() -> Iterator[S3Place]:
    """A moto bucket behind a fault proxy."""
    binding = FaultyS3Binding({"timeout": "1", "connect_timeout": "1", "retries": "1"})
    try:
        binding.prepare()
        assert binding.injector is not None
        yield S3Place(binding.filesystem, binding.injector)
    finally:
        binding.dispose()


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Each kind of store."""
    makers: dict[str, Callable[[], Place]] = {
        "fake": FakePlace,
        "local": lambda: LocalPlace(tmp_path),
        "s3": lambda: request.getfixturevalue("bucket"),
    }
    return makers[request.param]()


def kinds_of(place: Place) -> list[str]:
    """Return the kinds that can occur there without long waits."""
    place.put(CASES[0])
    real = not isinstance(place, FakePlace)
    return [k for k in FAULTS if k in place.injector.kinds & CHECKED and not (real and k in SLOW)]


def fault(kind: str, at: int, times: int) -> Fault:
    """Return a fault that takes little time."""
    if "seconds" in FAULTS[kind].parameters:
        return Fault(kind, at, times, seconds={"slow": 1e-7, "throttle": 0}.get(kind, 10))
    return Fault(kind, at, times, amount={"cut-body": 40_000, "short": 20_000}.get(kind))


def plans(place: Place) -> Iterator[FaultPlan]:
    """Yield each kind at each of the first requests, with recoverable and higher counts."""
    for kind in kinds_of(place):
        for at in (1, 2, 3):
            for times in (1, 4):
                yield FaultPlan((fault(kind, at, times),))


def violations(place: Place, case: Case, make: MakeReader = reader_of) -> Iterator[str]:
    """Yield errors with their plans."""
    for plan in plans(place):
        if wrong := violation(place, case, plan, make):
            yield f"{plan}: {wrong}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_each_fault_gives_all_records_or_names_the_block(place: Place, case: Case) -> None:
    """For each context."""
    assert list(violations(place, case)) == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_reader_that_mishandles_failures_is_detected(place: Place, mutant: str) -> None:
    """By some fault, for files read forwards or backwards."""
    found = (violations(place, case, MUTANTS[mutant]) for case in CASES[:2])
    assert any(wrong for each in found for wrong in each)


def test_random_plans_lose_nothing(place: Place) -> None:
    """With several faults."""
    kinds = [k for k in kinds_of(place) if k not in ("slow", "throttle")]
    rng = random.Random(8)
    for _ in range(60):
        plan, case = random_plan(rng, kinds), rng.choice(CASES)
        assert violation(place, case, plan) == "", f"{plan} on {case}"


def test_missing_responses_lose_nothing(bucket: S3Place) -> None:
    """The stream times out after a second, and retries once."""
    for kind in SLOW:
        plan = FaultPlan((Fault(kind, 2, 1, seconds=30),))
        assert violation(bucket, CASES[1], plan) == ""
        assert bucket.injector.fired == 1
    plan = FaultPlan((Fault("hang", 3, 2, seconds=30),))
    assert violation(bucket, CASES[1], plan) == ""


def test_each_kind_of_fault_occurs(place: Place) -> None:
    """Otherwise the tests would show nothing about it."""
    for kind in kinds_of(place):
        assert violation(place, CASES[1], FaultPlan((fault(kind, 1, 4),))) == ""
        assert place.injector.fired, kind
