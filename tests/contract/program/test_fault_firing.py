"""Apply plans to requests: which are struck, and why a fault struck none."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.fault_firing import MOST_SEEN, Firing
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan


def _struck(plan: FaultPlan, requests: list[str]) -> list[str | None]:
    firing = Firing(plan)
    faults = [firing.request(request).fault for request in requests]
    return [None if fault is None else fault.kind for fault in faults]


def test_fault_hits_consecutive_requests_from_its_first() -> None:
    plan = FaultPlan((Fault("reset", nth=2, times=3),))
    assert _struck(plan, ["get"] * 6) == [None, "reset", "reset", "reset", None, None]


def test_only_requests_that_a_fault_can_strike_are_counted() -> None:
    plan = FaultPlan((Fault.descriptors(nth=2), Fault.short(nth=2)))
    assert _struck(plan, ["open", "get", "open", "get"]) == [None, None, "descriptors", "short"]


def test_first_fault_of_the_plan_wins() -> None:
    plan = FaultPlan((Fault("short", nth=2), Fault("reset", times=5)))
    assert _struck(plan, ["get"] * 3) == ["reset", "short", "reset"]


# Aim ------------------------------------------------------------------------------------------


def aimed(fault: Fault, requests: Iterable[tuple[Any, ...]]) -> list[int]:
    """Return the numbers of the requests that a fault strikes."""
    firing = Firing(FaultPlan((fault,)))
    turns = [firing.request(*request) for request in requests]
    return [turn.number for turn in turns if turn.fault is not None]


READS = [
    ("open", "/d/a.parquet"),
    ("get", "/d/a.parquet", 0, 4),
    ("get", "/d/b.csv", 100, 8),
    ("get", "/d/a.parquet", 100, 8),
    ("get", "/d/a.parquet", 4, 50),
    ("get", "/d/a.parquet"),
    ("put", "/d/a.parquet"),
]


@pytest.mark.parametrize(
    ("fault", "struck"),
    [
        (Fault.reset(operation="open", times="all"), [1]),
        (Fault.reset(operation=("open", "put"), times="all"), [1, 7]),
        (Fault.short(path="*.parquet", times="all"), [2, 4, 5, 6]),
        (Fault.short(path="b.csv", times="all"), [3]),
        (Fault.short(path="/*/b.csv", times="all"), [3]),
        (Fault.short(path="d", times="all"), []),
        (Fault.short(offset=4, times="all"), [5]),
        (Fault.short(offset=slice(4, None), times="all"), [3, 4, 5]),
        (Fault.short(offset=slice(None, 100), times="all"), [2, 5]),
        (Fault.short(offset=slice(4, 100), times="all"), [5]),
        (Fault.short(path="*.parquet", offset=slice(4, None), nth=1), [4]),
        (Fault.short(path="*.parquet", offset=slice(4, None), nth=2), [5]),
        (Fault.reset(where=lambda r: r.length is not None and r.length < 8, times="all"), [2]),
    ],
    ids=lambda value: str(value) if isinstance(value, Fault) else "",
)
def test_aim_selects_requests(fault: Fault, struck: list[int]) -> None:
    assert aimed(fault, READS) == struck


def test_attempt_counts_struck_requests_for_the_same_bytes_in_a_row() -> None:
    firing = Firing(FaultPlan((Fault.reset(attempt=1, times="all"),)))
    struck = []
    for offset in (0, 0, 0, 5, 0, 5):
        turn = firing.request("get", "/a", offset)
        turn.took_effect()
        struck.append(turn.fault is not None)
    assert struck == [True, False, True, True, False, False]


def test_thread_selects_requests_of_threads_by_name() -> None:
    firing = Firing(FaultPlan((Fault.reset(thread="read-*", times="all"),)))
    struck: list[str] = []

    def work() -> None:
        if firing.request("get").fault is not None:
            struck.append(threading.current_thread().name)

    for name in ("read-1", "write-1", "read-2"):
        thread = threading.Thread(target=work, name=name)
        thread.start()
        thread.join()
    assert struck == ["read-1", "read-2"]


def test_task_selects_requests_of_asyncio_tasks_by_name() -> None:
    firing = Firing(FaultPlan((Fault.reset(task="read-*", times="all"),)))

    async def work() -> bool:
        return firing.request("get").fault is not None

    async def struck(*names: str) -> list[bool]:
        return [await asyncio.create_task(work(), name=name) for name in names]

    assert asyncio.run(struck("read-1", "write-1", "read-2")) == [True, False, True]
    assert firing.request("get").fault is None


def test_period_selects_requests_by_the_time_since_the_plan_was_attached() -> None:
    clock = 100.0
    firing = Firing(FaultPlan((Fault.reset(during=slice(10, 40)),)), lambda: clock)
    struck = []
    for clock in (105.0, 110.0, 139.0, 140.0):
        if firing.request("get").fault is not None:
            struck.append(clock - 100)
    assert struck == [10, 39]
    late = Firing(FaultPlan((Fault.reset(during=slice(10, None)),)), lambda: clock)
    late.request("get")
    assert late.why(late.unstruck[0]) == snapshot("no request matched, any request from 10 s on")


def test_parameter_of_the_fake_alone_is_refused_elsewhere() -> None:
    injector = PlanInjector(frozenset({"corrupt"}))
    injector.attach(FaultPlan((Fault.corrupt(),)))
    with pytest.raises(ProgramError, match="fault 1: unsupported parameter silent of corrupt"):
        injector.attach(FaultPlan((Fault.corrupt(silent=True),)))


def test_probability_depends_on_the_seed_alone() -> None:
    gets = [("get", "/a")] * 400
    one, again, other = (
        aimed(Fault.reset(probability=0.25, seed=seed), gets) for seed in (1, 1, 2)
    )
    assert one == again != other
    assert 60 < len(one) < 140
    assert aimed(Fault.reset(probability=0), gets) == []
    assert aimed(Fault.reset(probability=1, times=3), gets) == [1, 2, 3]


def test_only_faults_with_an_effect_are_counted() -> None:
    firing = Firing(FaultPlan((Fault("short", times=2),)))
    firing.request("get")
    firing.request("get").took_effect()
    firing.request("get").took_effect()
    assert (firing.requests, firing.fired) == (3, 1)


MISSED = {
    "too late": Fault.short(nth=9),
    "never": Fault.reset(operation="delete"),
    "preceded": Fault.reset(nth=3),
    "without effect": Fault.short(nth=2),
    "not drawn": Fault.reset(probability=0, seed=7),
    "other path": Fault.short(path="*.csv"),
    "other offset": Fault.short(path="b", offset=slice(5, None)),
    "other attempt": Fault.reset(attempt=3),
}


def missed(fault: Fault) -> Firing:
    """Return a plan's firing in which the fault took no effect."""
    firing = Firing(FaultPlan((Fault("hang", nth=3), fault)))
    for operation in ("open", "head", "get", "list", "get"):
        turn = firing.request(operation, "/a/b", 4 if operation == "get" else None)
        if turn.number == 3:
            turn.took_effect()
    return firing


@pytest.mark.parametrize("fault", MISSED.values(), ids=MISSED)
def test_fault_that_took_no_effect_is_unstruck(fault: Fault) -> None:
    assert missed(fault).unstruck == (fault,)


def test_unstruck_faults_say_why() -> None:
    assert {name: missed(fault).why(fault) for name, fault in MISSED.items()} == snapshot(
        {
            "too late": "only 2 requests matched, get",
            "never": "no request matched, delete",
            "preceded": "an earlier fault of the plan came first",
            "without effect": "it had no effect on its requests",
            "not drawn": "it was not drawn for any of 5 requests",
            "other path": "no request matched, get of *.csv",
            "other offset": "no request matched, get of b starting at 5 or later",
            "other attempt": ("no request matched, any request of attempt 3"),
        }
    )


def test_first_requests_under_a_plan_are_kept_for_messages() -> None:
    firing = Firing(FaultPlan())
    firing.request("open", "/a")
    firing.request("get", "/a", 3, 4)
    firing.request("get", "/a", None, 4)
    firing.request("get", "/a", 3)
    assert list(map(str, firing.seen)) == snapshot(
        ["1 open /a", "2 get /a 4 bytes from 3", "3 get /a 4 bytes", "4 get /a from 3"]
    )
    for _ in range(MOST_SEEN):
        firing.request("get")
    assert len(firing.seen) == MOST_SEEN
    assert firing.requests == MOST_SEEN + 4


def test_watcher_of_an_injector_sees_every_later_plan() -> None:
    injector = PlanInjector(frozenset({"reset"}))
    plans = [FaultPlan((Fault("reset", nth=n),)) for n in (1, 2, 3)]
    injector.attach(plans[0])
    watched = injector.watch()
    for plan in plans[1:]:
        with injector.attached(plan):
            for _ in range(2):
                injector.request("get").took_effect()
    assert [firing.plan for firing in watched] == plans[1:]
    assert [bool(firing.unstruck) for firing in watched] == [False, True]


def test_requests_of_several_threads_have_unique_numbers() -> None:
    plan = FaultPlan((Fault("reset", nth=10, times=500), Fault("short", nth=600, times=7)))
    firing = Firing(plan)
    seen: list[Any] = []
    ready = threading.Barrier(8)

    def work() -> None:
        ready.wait()
        for _ in range(100):
            turn = firing.request("get")
            turn.took_effect()
            seen.append((turn.number, turn.fault and turn.fault.kind))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for number, _ in seen) == list(range(1, 801))
    assert Counter(kind for _, kind in seen) == {"reset": 500, "short": 7, None: 293}
    assert {n for n, kind in seen if kind == "short"} == set(range(600, 607))
    assert firing.fired == 507


def test_injector_refuses_a_plan_that_it_can_not_execute() -> None:
    """A plan without effect would pass every check."""
    injector = PlanInjector(frozenset({"short", "reset"}))
    with pytest.raises(ProgramError, match="hang") as caught:
        injector.attach(FaultPlan((Fault("short"), Fault("hang"))))
    assert str(caught.value) == snapshot(
        "plan: fault 2: unsupported kind hang; possible: short, reset"
    )


def test_injector_counts_from_attach_to_detach() -> None:
    injector = PlanInjector(frozenset(FAULTS))
    assert injector.request("get").fault is None
    for _ in range(2):
        with injector.attached(FaultPlan((Fault("reset", nth=2),))):
            assert injector.request("get").fault is None
            turn = injector.request("open")
            assert turn.fault == Fault("reset", nth=2)
            turn.took_effect()
        assert injector.request("open").fault is None
        assert (injector.requests, injector.fired) == (2, 1)


def test_detaching_a_plan_ends_its_waits() -> None:
    injector = PlanInjector(frozenset(FAULTS))
    injector.attach(FaultPlan((Fault("hang"),)))
    turn, results = injector.request("get"), []
    thread = threading.Thread(target=lambda: results.append(turn.wait(3600)))
    thread.start()
    injector.attach(FaultPlan())
    thread.join()
    assert results == [False]
    assert turn.wait(3600) is False
    assert injector.request("get").wait(0) is True
