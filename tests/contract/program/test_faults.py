"""Plans of faults as data: their JSON and text, which requests they hit, and how they shrink."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from random import Random
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.faults import (
    FAULTS,
    MOST_SEEN,
    PLACES,
    REQUESTS,
    Fault,
    FaultPlan,
    Firing,
    random_plan,
    smaller,
)

KINDS = sorted(FAULTS)
#: Text that is not a valid plan.
INVALID = {
    "empty": "",
    "cut off": "{",
    "deeply nested": "[" * 100_000,
    "list": "[]",
    "faults that are no list": '{"faults": 1}',
    "another key": '{"faults": [], "seed": 1}',
    "fault that is a number": '{"faults": [1]}',
    "fault without kind": '{"faults": [{"at": 1}]}',
    "unknown kind": '{"faults": [{"kind": "oops\\n"}]}',
    "kind that is a list": '{"faults": [{"kind": []}]}',
    "unknown field": '{"faults": [{"kind": "reset", "when": 1}]}',
    "request 0": '{"faults": [{"kind": "reset", "at": 0}]}',
    "request that is a bool": '{"faults": [{"kind": "reset", "at": true}]}',
    "request that is a float": '{"faults": [{"kind": "reset", "at": 1.0}]}',
    "request null": '{"faults": [{"kind": "reset", "at": null}]}',
    "negative times": '{"faults": [{"kind": "reset", "times": -1}]}',
    "amount of a kind without number": '{"faults": [{"kind": "reset", "amount": 1}]}',
    "amount of a kind with seconds": '{"faults": [{"kind": "hang", "amount": 1}]}',
    "amount 0": '{"faults": [{"kind": "short", "amount": 0}]}',
    "infinite amount": '{"faults": [{"kind": "short", "amount": 1e400}]}',
    "seconds that are not a number": '{"faults": [{"kind": "hang", "seconds": NaN}]}',
    "seconds that are text": '{"faults": [{"kind": "hang", "seconds": "1"}]}',
    "negative seconds": '{"faults": [{"kind": "hang", "seconds": -0.1}]}',
    "too many faults": json.dumps({"faults": [{"kind": "reset"}] * 1001}),
    "long kind": json.dumps({"faults": [{"kind": "x" * 10**6}]}),
}


@pytest.mark.parametrize("name", KINDS)
def test_kind_of_fault_has_a_meaning_requests_and_places(name: str) -> None:
    kind = FAULTS[name]
    assert kind.name == name
    assert kind.meaning.endswith(".")
    assert kind.requests
    assert kind.requests <= set(REQUESTS)
    assert kind.attaches
    assert kind.attaches <= set(PLACES)


@pytest.mark.parametrize("name", KINDS)
def test_default_and_random_numbers_of_a_kind_are_valid(name: str) -> None:
    kind = FAULTS[name]
    fault = Fault(name)
    if kind.parameter is None:
        assert not kind.values
        return
    for value in (kind.least, *kind.values):
        data = {"kind": name, kind.parameter: value}
        assert Fault.from_json(data).to_json() == {**data, "at": 1}
    assert (fault.limit if kind.parameter == "amount" else fault.delay) == kind.default


def test_fault_with_an_unknown_kind_or_parameter_raises_program_error() -> None:
    with pytest.raises(ProgramError, match="shrt") as kind:
        Fault("shrt")
    with pytest.raises(ProgramError, match="seconds") as parameter:
        Fault("delete", seconds=1)
    lines = [str(caught.value).replace(", ".join(FAULTS), "KINDS") for caught in (kind, parameter)]
    assert lines == snapshot(
        [
            "unknown kind 'shrt'; known: KINDS",
            "unknown parameter seconds of delete; allowed: at, times",
        ]
    )


@pytest.mark.parametrize("seed", range(40))
def test_plan_survives_json(seed: int) -> None:
    plan = random_plan(Random(seed), FAULTS)
    assert FaultPlan.loads(plan.dumps()) == plan
    assert "\n" not in plan.dumps()


def test_json_of_a_plan_omits_defaults() -> None:
    plan = FaultPlan((Fault("reset", 3), Fault("short", 1, 2, amount=5)))
    assert plan.to_json() == {
        "faults": [
            {"kind": "reset", "at": 3},
            {"kind": "short", "at": 1, "times": 2, "amount": 5},
        ]
    }


def message(text: str) -> str:
    """Return why a plan is refused, without the words of the JSON library and long lists."""
    with pytest.raises(ProgramError) as caught:
        FaultPlan.loads(text)
    line = re.sub(r"(not JSON: ).*", r"\1...", str(caught.value), flags=re.DOTALL)
    return re.sub("xxx+", "xxx...", line).replace(", ".join(FAULTS), "KINDS")


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID)
def test_invalid_plan_is_refused_with_one_short_line(text: str) -> None:
    with pytest.raises(ProgramError, match=r"^plan: ") as caught:
        FaultPlan.loads(text)
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 400


@pytest.mark.parametrize(("text", "words"), [("", "value"), ("{", "property name")])
def test_text_that_is_not_json_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(ProgramError, match=rf"^plan: not JSON: Expecting {words}"):
        FaultPlan.loads(text)


def test_refusals_of_plans_say_what_is_allowed() -> None:
    assert {name: message(text) for name, text in INVALID.items()} == snapshot(
        {
            "empty": "plan: not JSON: ...",
            "cut off": "plan: not JSON: ...",
            "deeply nested": "plan: not JSON: ...",
            "list": "plan: expected an object with a list of faults",
            "faults that are no list": "plan: expected an object with a list of faults",
            "another key": "plan: unexpected keys besides faults",
            "fault that is a number": "plan: fault 1: expected an object with kind, got 1",
            "fault without kind": "plan: fault 1: expected an object with kind, got {'at': 1}",
            "unknown kind": "plan: fault 1: unknown kind 'oops\\n'; known: KINDS",
            "kind that is a list": "plan: fault 1: unknown kind []; known: KINDS",
            "unknown field": (
                "plan: fault 1: unknown field 'when'; known: kind, at, times, amount, seconds"
            ),
            "request 0": "plan: fault 1: at must be a whole number from 1 to 1000000000, got 0",
            "request that is a bool": (
                "plan: fault 1: at must be a whole number from 1 to 1000000000, got True"
            ),
            "request that is a float": (
                "plan: fault 1: at must be a whole number from 1 to 1000000000, got 1.0"
            ),
            "request null": (
                "plan: fault 1: at must be a whole number from 1 to 1000000000, got None"
            ),
            "negative times": (
                "plan: fault 1: times must be a whole number from 1 to 1000000000, got -1"
            ),
            "amount of a kind without number": (
                "plan: fault 1: unknown parameter amount of reset; allowed: at, times"
            ),
            "amount of a kind with seconds": (
                "plan: fault 1: unknown parameter amount of hang; allowed: at, times, seconds"
            ),
            "amount 0": (
                "plan: fault 1: amount must be a whole number from 1 to 1099511627776, got 0"
            ),
            "infinite amount": (
                "plan: fault 1: amount must be a whole number from 1 to 1099511627776, got inf"
            ),
            "seconds that are not a number": (
                "plan: fault 1: seconds must be a number from 0 to 86400, got nan"
            ),
            "seconds that are text": (
                "plan: fault 1: seconds must be a number from 0 to 86400, got '1'"
            ),
            "negative seconds": (
                "plan: fault 1: seconds must be a number from 0 to 86400, got -0.1"
            ),
            "too many faults": "plan: expected at most 1000 faults, got 1001",
            "long kind": "plan: fault 1: unknown kind 'xxx...; known: KINDS",
        }
    )


def test_text_of_a_plan_is_one_line() -> None:
    plan = FaultPlan((Fault("short", 2, amount=1), Fault("reset", 3, 4), Fault("hang", seconds=2)))
    assert str(plan) == snapshot("short(1) at 2; reset at 3-6; hang(2) at 1")
    assert str(FaultPlan()) == snapshot("no faults")


def _struck(plan: FaultPlan, requests: list[str]) -> list[str | None]:
    firing = Firing(plan)
    faults = [firing.request(request).fault for request in requests]
    return [None if fault is None else fault.kind for fault in faults]


def test_fault_hits_consecutive_requests_from_its_first() -> None:
    plan = FaultPlan((Fault("reset", at=2, times=3),))
    assert _struck(plan, ["read"] * 6) == [None, "reset", "reset", "reset", None, None]


def test_requests_that_a_fault_can_not_hit_are_counted() -> None:
    plan = FaultPlan((Fault("descriptors", at=2, times=2), Fault("short", at=3, times=2)))
    assert _struck(plan, ["open", "read", "open", "read"]) == [None, None, "descriptors", "short"]


def test_first_fault_of_the_plan_wins() -> None:
    plan = FaultPlan((Fault("short", at=2), Fault("reset", times=5)))
    assert _struck(plan, ["read"] * 3) == ["reset", "short", "reset"]


def test_only_faults_with_an_effect_are_counted() -> None:
    firing = Firing(FaultPlan((Fault("short", times=2),)))
    firing.request("read")
    firing.request("read").took_effect()
    firing.request("read").took_effect()
    assert (firing.requests, firing.fired) == (3, 1)


MISSED = {
    "too late": Fault("short", at=9),
    "another request": Fault("short", at=1),
    "other requests": Fault("short", at=1, times=2),
    "one of several": Fault("cut", at=4),
    "preceded": Fault("reset", at=3),
    "without effect": Fault("short", at=5),
}


def missed(fault: Fault) -> Firing:
    """Return a plan's firing in which the fault took no effect."""
    firing = Firing(FaultPlan((Fault("hang", at=3), fault)))
    for kind in ("open", "status", "read", "list", "read"):
        turn = firing.request(kind)
        if turn.number == 3:
            turn.took_effect()
    return firing


@pytest.mark.parametrize("fault", MISSED.values(), ids=MISSED)
def test_fault_that_took_no_effect_is_unstruck(fault: Fault) -> None:
    assert missed(fault).unstruck == (fault,)


def test_unstruck_faults_say_why() -> None:
    assert {name: missed(fault).why(fault) for name, fault in MISSED.items()} == snapshot(
        {
            "too late": "there was no request 9",
            "another request": "it can only strike read, not 1 (open)",
            "other requests": "it can only strike read, not 1 (open), 2 (status)",
            "one of several": "it can only strike open or status or read, not 4 (list)",
            "preceded": "an earlier fault of the plan came first",
            "without effect": "it had no effect on its requests",
        }
    )


def test_first_requests_under_a_plan_are_kept_for_messages() -> None:
    firing = Firing(FaultPlan())
    firing.request("open", "/a")
    firing.request("read", "/a", 3, 4)
    firing.request("read", "/a", None, 4)
    firing.request("read", "/a", 3)
    assert list(map(str, firing.seen)) == snapshot(
        ["1 open /a", "2 read /a 4 bytes from 3", "3 read /a 4 bytes", "4 read /a from 3"]
    )
    for _ in range(MOST_SEEN):
        firing.request("read")
    assert len(firing.seen) == MOST_SEEN
    assert firing.requests == MOST_SEEN + 4


def test_watcher_of_an_injector_sees_every_later_plan() -> None:
    injector = PlanInjector(frozenset({"reset"}))
    plans = [FaultPlan((Fault("reset", at=n),)) for n in (1, 2, 3)]
    injector.attach(plans[0])
    watched = injector.watch()
    for plan in plans[1:]:
        with injector.attached(plan):
            for _ in range(2):
                injector.request("read").took_effect()
    assert [firing.plan for firing in watched] == plans[1:]
    assert [bool(firing.unstruck) for firing in watched] == [False, True]


def test_requests_of_several_threads_have_unique_numbers() -> None:
    plan = FaultPlan((Fault("reset", at=10, times=500), Fault("short", at=600, times=7)))
    firing = Firing(plan)
    seen: list[Any] = []
    ready = threading.Barrier(8)

    def work() -> None:
        ready.wait()
        for _ in range(100):
            turn = firing.request("read")
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


def test_random_plan_depends_on_the_seed_only() -> None:
    plans = [random_plan(Random(seed), reversed(KINDS)) for seed in range(50)]
    assert plans == [random_plan(Random(seed), KINDS) for seed in range(50)]
    assert len(set(plans)) > 40


def test_random_plans_have_the_requested_kinds_at_the_first_requests() -> None:
    kinds = {"short", "reset", "hang"}
    plans = [random_plan(Random(seed), kinds, requests=3) for seed in range(200)]
    assert frozenset[str]().union(*(plan.kinds for plan in plans)) == kinds
    assert {fault.at for plan in plans for fault in plan.faults} == {1, 2, 3}
    assert random_plan(Random(0), ()) == FaultPlan()


def _shrink(plan: FaultPlan, fails: Any) -> FaultPlan:
    while (found := next(filter(fails, smaller(plan)), None)) is not None:
        plan = found
    return plan


def test_plan_shrinks_to_the_smallest_that_still_fails() -> None:
    plan = FaultPlan(
        (Fault("reset", 7, 3), Fault("short", 5, 4, amount=4097), Fault("hang", seconds=60.5))
    )
    assert _shrink(plan, lambda p: "hang" in p.kinds) == FaultPlan((Fault("hang"),))
    assert _shrink(plan, lambda p: bool(p.faults)) == FaultPlan((Fault("reset"),))
    assert _shrink(plan, lambda _: True) == FaultPlan()

    def needs(p: FaultPlan) -> bool:
        return any(
            f.kind == "short" and f.at <= 3 < f.at + f.times and f.limit >= 100 for f in p.faults
        ) and any(f.kind == "reset" for f in p.faults)

    large = FaultPlan((Fault("reset", 7, 3), Fault("short", 2, 4, amount=4097)))
    assert _shrink(large, needs) == FaultPlan((Fault("reset"), Fault("short", 3, amount=100)))


@pytest.mark.parametrize("seed", range(30))
def test_shrinking_terminates_for_any_choice_of_smaller_plans(seed: int) -> None:
    rng = Random(seed)
    plan = random_plan(rng, FAULTS)
    for _ in range(10_000):
        others = list(smaller(plan))
        assert plan not in others
        if not others:
            break
        plan = rng.choice(others)
    assert plan == FaultPlan()


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
    assert injector.request("read").fault is None
    for _ in range(2):
        with injector.attached(FaultPlan((Fault("reset", at=2),))):
            assert injector.request("read").fault is None
            turn = injector.request("open")
            assert turn.fault == Fault("reset", at=2)
            turn.took_effect()
        assert injector.request("open").fault is None
        assert (injector.requests, injector.fired) == (2, 1)


def test_detaching_a_plan_ends_its_waits() -> None:
    injector = PlanInjector(frozenset(FAULTS))
    injector.attach(FaultPlan((Fault("hang"),)))
    turn, results = injector.request("read"), []
    thread = threading.Thread(target=lambda: results.append(turn.wait(3600)))
    thread.start()
    injector.attach(FaultPlan())
    thread.join()
    assert results == [False]
    assert turn.wait(3600) is False
    assert injector.request("read").wait(0) is True
