"""Programs of several threads, and where they are switched."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest

from fscontract.contract.concurrency.check import MAX_UNSOUND
from fscontract.contract.concurrency.programs import (
    FAMILIES,
    SMALL,
    Maker,
    events_of,
    lockstep_switches,
    long_threads,
    of_same_families,
    random_switches,
    random_threads,
    single_switches,
    with_switches,
)
from fscontract.contract.concurrency.schedule import Schedule, Switch
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem

_THREADS = ("pread", "read_fully", "read_vectored", "seek", "read_byte", "read_into", "get_pos")
EVERY = frozenset((*_THREADS, "skip"))
#: Events of two threads: two calls of one and two events, and one call of three.
COUNTS = [[1, 2], [3]]


@pytest.mark.parametrize("operations", [(*_THREADS, "skip"), _THREADS], ids=["all", "fsspec"])
def test_threads_are_made_of_the_sound_operations_only(operations: tuple[str, ...]) -> None:
    """A family that needs an unsound operation is not usable."""
    made, bind = 0, StreamBinding(MemoryFileSystem(), "memory").bind
    for count in range(1, MAX_UNSOUND + 1):
        for unsound in combinations(operations, count):
            sound = frozenset(operations) - {*unsound}
            for family in (f for f in FAMILIES if f.usable(sound)):
                for seed in range(8):
                    threads = long_threads(family, seed, sound, SMALL, 4096, 6)
                    steps = [step for thread in threads for step in thread]
                    assert {step.op for step in steps} <= sound
                    assert all(callable(bind(step)) for step in steps)
                    made += 1
    assert made > 500


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_program_of_a_family_depends_on_the_seed_only(family: object) -> None:
    (same,) = (f for f in FAMILIES if f is family)
    programs = [random_threads(same, seed, EVERY, 9000, 4096) for seed in range(20)]
    assert programs == [random_threads(same, seed, EVERY, 9000, 4096) for seed in range(20)]
    assert len({*programs}) > 10


def test_core_programs_start_with_the_last_thread_first() -> None:
    first, second, *_ = FAMILIES[0].core_programs(EVERY)
    assert first == second[::-1]


def test_long_threads_have_at_least_the_requested_calls() -> None:
    threads = long_threads(FAMILIES[1], 7, EVERY, SMALL, 4096, 20)
    assert all(len(steps) >= 20 for steps in threads)


@pytest.mark.parametrize("length", [SMALL, 9000])
def test_positioned_read_fully_stays_inside_the_file(length: int) -> None:
    maker = Maker(Random(3), frozenset({"read_fully"}), length, 4096)
    for _ in range(200):
        position, size, before, count = maker.positioned().args
        assert 0 <= position <= length - count
        assert before + count <= size


def test_ranges_of_a_vectored_read_do_not_overlap() -> None:
    maker = Maker(Random(3), EVERY, 9000, 4096)
    for _ in range(200):
        ranges = sorted(maker.vectored().args[0])
        assert all(a + n <= b for (a, n), (b, _) in pairwise(ranges))


def test_clauses_of_the_same_families_are_checked_together() -> None:
    assert of_same_families({"pread.isolation"}) == {"pread.isolation", "pread.serializable"}
    assert of_same_families({"seek.pos"}) == frozenset()


class TestSwitches:
    def test_single_switches_are_all_places_but_the_start_of_a_thread(self) -> None:
        switches = [switch for (switch,) in single_switches(COUNTS, 100)]
        assert Switch(0, 0, 0, 1) not in switches
        assert Switch(0, 1, 0, 1) in switches
        assert len(switches) == 1 + 3 + 3

    def test_single_switches_are_thinned_to_the_limit(self) -> None:
        assert len(list(single_switches(COUNTS, 4))) <= 4

    def test_lockstep_switches_go_to_the_next_thread_after_each_stride(self) -> None:
        first, second, *_ = lockstep_switches(COUNTS)
        assert len(first) == events_of(COUNTS) == 6
        assert second == (Switch(0, 1, 2, 1), Switch(1, 0, 2, 0))

    def test_random_switches_are_in_order_and_change_the_thread(self) -> None:
        for seed in range(50):
            switches = random_switches(COUNTS, Random(seed))
            assert 1 <= len(switches) <= 3
            assert list(switches) == sorted(switches)
            assert all(switch.thread != switch.to for switch in switches)

    def test_schedule_with_other_switches_keeps_its_calls(self) -> None:
        schedule = Schedule(48, ((Step("read_byte"),), (Step("read_byte"),)), seed=1)
        switches = (Switch(0, 0, 1, 1),)
        other = with_switches(schedule, switches, 7)
        assert (other.threads, other.switches, other.seed) == (schedule.threads, switches, 7)
