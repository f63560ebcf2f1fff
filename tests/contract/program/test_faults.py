"""Plans of faults as data: their text, which requests they strike, and how they get smaller."""

from __future__ import annotations

import json
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
#: Text that is no plan, and what is said of it.
HOSTILE = [
    ("", "plan: not JSON: Expecting value"),
    ("{", "plan: not JSON: Expecting property name"),
    ("[" * 100_000, "plan: not JSON: "),
    ("[]", "plan: expected an object with a list of faults"),
    ('{"faults": 1}', "plan: expected an object with a list of faults"),
    ('{"faults": [], "seed": 1}', "plan: expected faults and nothing else"),
    ('{"faults": [1]}', "plan: fault 1: expected an object with kind, not 1"),
    ('{"faults": [{"at": 1}]}', "plan: fault 1: expected an object with kind"),
    ('{"faults": [{"kind": "oops\\n"}]}', "plan: fault 1: no kind 'oops\\n'; known: short"),
    ('{"faults": [{"kind": []}]}', "plan: fault 1: no kind []; known: short"),
    ('{"faults": [{"kind": "reset", "when": 1}]}', "plan: fault 1: no field 'when'; known: kind"),
    ('{"faults": [{"kind": "reset", "at": 0}]}', "at must be a whole number from 1 to"),
    ('{"faults": [{"kind": "reset", "at": true}]}', "from 1 to 1000000000, not True"),
    ('{"faults": [{"kind": "reset", "at": 1.0}]}', "not 1.0"),
    ('{"faults": [{"kind": "reset", "at": null}]}', "not None"),
    ('{"faults": [{"kind": "reset", "times": -1}]}', "times must be a whole number"),
    ('{"faults": [{"kind": "reset", "amount": 1}]}', "reset has no amount; it takes no number"),
    ('{"faults": [{"kind": "hang", "amount": 1}]}', "hang has no amount; it takes only seconds"),
    ('{"faults": [{"kind": "short", "amount": 0}]}', "amount must be a whole number from 1 to"),
    ('{"faults": [{"kind": "short", "amount": 1e400}]}', "not inf"),
    ('{"faults": [{"kind": "hang", "seconds": NaN}]}', "seconds must be a number from 0 to"),
    ('{"faults": [{"kind": "hang", "seconds": "1"}]}', "not '1'"),
    ('{"faults": [{"kind": "hang", "seconds": -0.1}]}', "not -0.1"),
    (json.dumps({"faults": [{"kind": "reset"}] * 1001}), "plan: at most 1000 faults, not 1001"),
    (json.dumps({"faults": [{"kind": "x" * 10**6}]}), "plan: fault 1: no kind 'xxxx"),
]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_says_what_it_means(name: str) -> None:
    """The documentation and the checks go by the table."""
    kind = FAULTS[name]
    assert kind.name == name
    assert kind.meaning.endswith(".")
    assert kind.requests
    assert kind.requests <= set(REQUESTS)
    assert kind.attaches
    assert kind.attaches <= set(PLACES)


@pytest.mark.parametrize("name", KINDS)
def test_every_number_that_a_kind_has_is_one_that_a_fault_may_have(name: str) -> None:
    """A plan without numbers, and one made at random, is never refused."""
    kind = FAULTS[name]
    fault = Fault(name)
    if kind.parameter is None:
        assert not kind.values
        return
    for value in (kind.least, *kind.values):
        data = {"kind": name, kind.parameter: value}
        assert Fault.from_json(data).to_json() == {**data, "at": 1}
    assert (fault.limit if kind.parameter == "amount" else fault.delay) == kind.default


def test_no_plan_can_be_made_that_means_nothing() -> None:
    """Not only JSON is looked at."""
    with pytest.raises(ProgramError, match=r"^no kind 'shrt'; known: short, "):
        Fault("shrt")
    with pytest.raises(ProgramError, match=r"^delete has no seconds; "):
        Fault("delete", seconds=1)


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_survives_json(seed: int) -> None:
    """A failure that is saved is the same when it is run again."""
    plan = random_plan(Random(seed), FAULTS)
    assert FaultPlan.loads(plan.dumps()) == plan
    assert "\n" not in plan.dumps()


def test_json_says_only_what_is_not_as_always() -> None:
    """People read it."""
    plan = FaultPlan((Fault("reset", 3), Fault("short", 1, 2, amount=5)))
    assert plan.to_json() == {
        "faults": [
            {"kind": "reset", "at": 3},
            {"kind": "short", "at": 1, "times": 2, "amount": 5},
        ]
    }


@pytest.mark.parametrize(("text", "said"), HOSTILE, ids=range(len(HOSTILE)))
def test_text_that_is_no_plan_gives_one_clear_line(text: str, said: str) -> None:
    """Plans come from files, and files from anywhere."""
    with pytest.raises(ProgramError) as caught:
        FaultPlan.loads(text)
    line = str(caught.value)
    assert said in line
    assert line.isprintable()
    assert len(line) < 400


def test_a_plan_reads_as_a_line() -> None:
    """A report has it beside the program."""
    plan = FaultPlan((Fault("short", 2, amount=1), Fault("reset", 3, 4), Fault("hang", seconds=2)))
    assert str(plan) == snapshot("short(1) at 2; reset at 3-6; hang(2) at 1")
    assert str(FaultPlan()) == "no faults"


def _struck(plan: FaultPlan, requests: list[str]) -> list[str | None]:
    firing = Firing(plan)
    faults = [firing.request(request).fault for request in requests]
    return [None if fault is None else fault.kind for fault in faults]


def test_a_fault_strikes_so_many_requests_from_its_first_on() -> None:
    """And none before or after."""
    plan = FaultPlan((Fault("reset", at=2, times=3),))
    assert _struck(plan, ["read"] * 6) == [None, "reset", "reset", "reset", None, None]


def test_a_fault_spares_requests_that_it_can_not_strike_but_they_count() -> None:
    """The second request is the second, whatever it is."""
    plan = FaultPlan((Fault("descriptors", at=2, times=2), Fault("short", at=3, times=2)))
    assert _struck(plan, ["open", "read", "open", "read"]) == [None, None, "descriptors", "short"]


def test_the_first_of_several_faults_strikes() -> None:
    """In the order of the plan."""
    plan = FaultPlan((Fault("short", at=2), Fault("reset", times=5)))
    assert _struck(plan, ["read"] * 3) == ["reset", "short", "reset"]


def test_only_faults_that_took_effect_are_counted() -> None:
    """One byte less of an empty answer changes nothing."""
    firing = Firing(FaultPlan((Fault("short", times=2),)))
    firing.request("read")
    firing.request("read").took_effect()
    firing.request("read").took_effect()
    assert (firing.requests, firing.fired) == (3, 1)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault("short", at=9), "there was no request 9"),
        (Fault("short", at=1), "it can only strike read, not 1 (open)"),
        (Fault("short", at=1, times=2), "it can only strike read, not 1 (open), 2 (status)"),
        (Fault("cut", at=4), "it can only strike open or status or read, not 4 (list)"),
        (Fault("reset", at=3), "an earlier fault of the plan came first"),
        (Fault("short", at=5), "it changed nothing about the requests that it met"),
    ],
)
def test_a_fault_that_did_not_take_effect_says_why(fault: Fault, why: str) -> None:
    firing = Firing(FaultPlan((Fault("hang", at=3), fault)))
    for kind in ("open", "status", "read", "list", "read"):
        turn = firing.request(kind)
        if turn.number == 3:
            turn.took_effect()
    assert firing.unstruck == (fault,)
    assert firing.why(fault) == why


def test_requests_under_a_plan_are_kept_for_messages() -> None:
    """The first of them, with what they ask for."""
    firing = Firing(FaultPlan())
    firing.request("open", "/a")
    firing.request("read", "/a", 3, 4)
    firing.request("read", "/a", None, 4)
    firing.request("read", "/a", 3)
    shown = ["1 open /a", "2 read /a 4 bytes from 3", "3 read /a 4 bytes", "4 read /a from 3"]
    assert list(map(str, firing.seen)) == shown
    for _ in range(MOST_SEEN):
        firing.request("read")
    assert len(firing.seen) == MOST_SEEN
    assert firing.requests == MOST_SEEN + 4


def test_a_watcher_of_an_injector_has_every_plan_from_then_on() -> None:
    """Each with what became of it."""
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


def test_threads_share_the_numbers_and_each_is_given_once() -> None:
    """However they meet, the plan strikes as often as it says."""
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


def test_random_plans_come_from_the_seed_alone() -> None:
    """The seed is all that a report has to print."""
    plans = [random_plan(Random(seed), reversed(KINDS)) for seed in range(50)]
    assert plans == [random_plan(Random(seed), KINDS) for seed in range(50)]
    assert len(set(plans)) > 40


def test_random_plans_have_every_kind_asked_for_and_no_other() -> None:
    """At the first so many requests, where something is going on."""
    kinds = {"short", "reset", "hang"}
    plans = [random_plan(Random(seed), kinds, requests=3) for seed in range(200)]
    assert frozenset[str]().union(*(plan.kinds for plan in plans)) == kinds
    assert {fault.at for plan in plans for fault in plan.faults} == {1, 2, 3}
    assert random_plan(Random(0), ()) == FaultPlan()


def _shrink(plan: FaultPlan, fails: Any) -> FaultPlan:
    while (found := next(filter(fails, smaller(plan)), None)) is not None:
        plan = found
    return plan


def test_a_plan_shrinks_to_the_smallest_that_still_fails() -> None:
    """Fewer faults, then smaller numbers."""
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
def test_shrinking_ends_whichever_smaller_plan_is_taken(seed: int) -> None:
    """A predicate may be as capricious as it likes."""
    rng = Random(seed)
    plan = random_plan(rng, FAULTS)
    for _ in range(10_000):
        others = list(smaller(plan))
        assert plan not in others
        if not others:
            break
        plan = rng.choice(others)
    assert plan == FaultPlan()


def test_an_injector_refuses_a_plan_that_it_can_not_bring_about() -> None:
    """A plan that silently does nothing would pass every check."""
    injector = PlanInjector(frozenset({"short", "reset"}))
    with pytest.raises(ProgramError, match=r"^plan: fault 2: hang can't happen here; possible: sh"):
        injector.attach(FaultPlan((Fault("short"), Fault("hang"))))


def test_an_injector_counts_from_attach_to_detach() -> None:
    """And from one again with the next plan."""
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


def test_taking_a_plan_away_ends_its_waits() -> None:
    """A hang is over at once, and says so."""
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
