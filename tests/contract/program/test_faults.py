"""Faults and plans as data: their JSON and text, random ones, and how they shrink."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.faults import AIMS, FAULTS, Fault, FaultPlan, random_plan, smaller

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
    "fault without kind": '{"faults": [{"nth": 1}]}',
    "unknown kind": '{"faults": [{"kind": "oops\\n"}]}',
    "kind that is a list": '{"faults": [{"kind": []}]}',
    "unknown field": '{"faults": [{"kind": "reset", "when": 1}]}',
    "request 0": '{"faults": [{"kind": "reset", "nth": 0}]}',
    "request that is a bool": '{"faults": [{"kind": "reset", "nth": true}]}',
    "request that is a float": '{"faults": [{"kind": "reset", "nth": 1.0}]}',
    "request null": '{"faults": [{"kind": "reset", "nth": null}]}',
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
#: Text of plans with an invalid aim.
INVALID_AIMS = {
    "number of all requests": '{"faults": [{"kind": "reset", "at": 1}]}',
    "operation that the kind can't strike": '{"faults": [{"kind": "short", "operation": "open"}]}',
    "unknown operation": '{"faults": [{"kind": "short", "operation": [["x"]]}]}',
    "no operation": '{"faults": [{"kind": "short", "operation": []}]}',
    "path that is a number": '{"faults": [{"kind": "short", "path": 3}]}',
    "empty path": '{"faults": [{"kind": "short", "path": ""}]}',
    "offset before 0": '{"faults": [{"kind": "short", "offset": -1}]}',
    "offsets in the wrong order": '{"faults": [{"kind": "short", "offset": [5, 4]}]}',
    "predicate": '{"faults": [{"kind": "short", "where": "x"}]}',
    "seed without probability": '{"faults": [{"kind": "short", "seed": 3}]}',
    "probability above 1": '{"faults": [{"kind": "short", "probability": 1.5}]}',
    "period that ends before it starts": '{"faults": [{"kind": "reset", "during": [5, 4]}]}',
    "period that is a number": '{"faults": [{"kind": "reset", "during": 5}]}',
    "infinite period": '{"faults": [{"kind": "reset", "during": [0, 1e400]}]}',
    "unknown damage": '{"faults": [{"kind": "corrupt", "how": "some"}]}',
    "silence that is a number": '{"faults": [{"kind": "corrupt", "silent": 1}]}',
    "unknown distribution": '{"faults": [{"kind": "jitter", "distribution": []}]}',
    "rate 0": '{"faults": [{"kind": "rate-limit", "rate": 0}]}',
}


def test_fault_with_an_unknown_kind_or_parameter_raises_program_error() -> None:
    with pytest.raises(ProgramError, match="shrt") as kind:
        Fault("shrt")
    with pytest.raises(ProgramError, match="seconds") as parameter:
        Fault("delete", seconds=1)
    lines = [str(caught.value) for caught in (kind, parameter)]
    lines = [
        line.replace(", ".join(FAULTS), "KINDS").replace(", ".join(AIMS), "AIMS") for line in lines
    ]
    assert lines == snapshot(
        [
            "unknown kind 'shrt'; known: KINDS",
            "unknown parameter seconds of delete; allowed: AIMS",
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
            {"kind": "reset", "nth": 3},
            {"kind": "short", "nth": 1, "times": 2, "amount": 5},
        ]
    }


def message(text: str) -> str:
    """Return why a plan is refused, without the words of the JSON library and long lists."""
    with pytest.raises(ProgramError) as caught:
        FaultPlan.loads(text)
    line = re.sub(r"(not JSON: ).*", r"\1...", str(caught.value), flags=re.DOTALL)
    for words, names in (("KINDS", FAULTS), ("AIMS", AIMS)):
        line = line.replace(", ".join(names), words)
    line = re.sub(r"known: kind, .*", "known: FIELDS", line)
    return re.sub("xxx+", "xxx...", line)


@pytest.mark.parametrize("text", [*INVALID.values(), *INVALID_AIMS.values()])
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
            "fault without kind": "plan: fault 1: expected an object with kind, got {'nth': 1}",
            "unknown kind": "plan: fault 1: unknown kind 'oops\\n'; known: KINDS",
            "kind that is a list": "plan: fault 1: unknown kind []; known: KINDS",
            "unknown field": "plan: fault 1: unknown field 'when'; known: FIELDS",
            "request 0": "plan: fault 1: nth must be a whole number from 1 to 1000000000, got 0",
            "request that is a bool": (
                "plan: fault 1: nth must be a whole number from 1 to 1000000000, got True"
            ),
            "request that is a float": (
                "plan: fault 1: nth must be a whole number from 1 to 1000000000, got 1.0"
            ),
            "request null": "plan: fault 1: nth must not be null",
            "negative times": (
                "plan: fault 1: times must be a whole number from 1 to 1000000000, got -1"
            ),
            "amount of a kind without number": (
                "plan: fault 1: unknown parameter amount of reset; allowed: AIMS"
            ),
            "amount of a kind with seconds": (
                "plan: fault 1: unknown parameter amount of hang; allowed: seconds, AIMS"
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


def test_refusals_of_aims_say_what_is_allowed() -> None:
    assert {name: message(text) for name, text in INVALID_AIMS.items()} == snapshot(
        {
            "number of all requests": (
                "plan: fault 1: `at` counted all requests; use nth, which counts the selected ones"
            ),
            "operation that the kind can't strike": (
                "plan: fault 1: operation of short must be of get, got 'open'"
            ),
            "unknown operation": "plan: fault 1: operation of short must be of get, got ['x']",
            "no operation": "plan: fault 1: operation of short must be of get, got ()",
            "path that is a number": "plan: fault 1: path must be a glob, got 3",
            "empty path": "plan: fault 1: path must be a glob, got ''",
            "offset before 0": (
                "plan: fault 1: offset must be a number of bytes or a slice, slice(4, None), got "
                "(-1, 0)"
            ),
            "offsets in the wrong order": (
                "plan: fault 1: offset must be a number of bytes or a slice, slice(4, None), got "
                "(5, 4)"
            ),
            "predicate": "plan: fault 1: unknown field 'where'; known: FIELDS",
            "seed without probability": "plan: fault 1: seed needs a probability or a distribution",
            "probability above 1": (
                "plan: fault 1: probability must be a number from 0 to 1, got 1.5"
            ),
            "period that ends before it starts": (
                "plan: fault 1: during must be a slice of seconds, such as slice(10, 40), "
                "got (5, 4)"
            ),
            "period that is a number": (
                "plan: fault 1: during must be a slice of seconds, such as slice(10, 40), got 5"
            ),
            "infinite period": (
                "plan: fault 1: during must be a slice of seconds, such as slice(10, 40), "
                "got (0, inf)"
            ),
            "unknown damage": (
                "plan: fault 1: how must be one of bytes, order, version, zeros, tail, got 'some'"
            ),
            "silence that is a number": ("plan: fault 1: silent must be one of False, True, got 1"),
            "unknown distribution": (
                "plan: fault 1: distribution must be one of uniform, exponential, pareto, got ()"
            ),
            "rate 0": "plan: fault 1: rate must be a number from 0.001 to 1000000, got 0",
        }
    )


def test_text_of_a_plan_is_one_line() -> None:
    plan = FaultPlan((Fault("short", 2, amount=1), Fault("reset", 3, 4), Fault("hang", seconds=2)))
    assert str(plan) == snapshot("short at 2; reset at 3-6; hang(2) at 1")
    assert str(FaultPlan()) == snapshot("no faults")


def test_text_of_an_aim_shows_the_seed() -> None:
    fault = Fault.short(5, path="*.parquet", offset=slice(4, 90), probability=0.5, seed=3)
    assert str(fault) == snapshot(
        "short(5) at 1 and after of *.parquet starting at 4 or later before 90 "
        "with probability 0.5, seed 3"
    )


@pytest.mark.parametrize(
    "fault",
    [
        Fault.short(path="*.parquet", offset=slice(4, None), times="all"),
        Fault.reset(operation=("open", "put"), attempt=2, thread="pool-*", task="t*"),
        Fault.timeout(2.5, probability=0.5, seed=-3, times=4),
        Fault.throttle(offset=7),
        Fault.reset(during=slice(10, 40)),
        Fault.expired(during=slice(2.5, None), times=3),
        Fault.jitter(2, "pareto", seed=4),
        Fault.corrupt("tail", silent=True, operation="put"),
        Fault.rate_limit(0.5, burst=3, times=1),
    ],
    ids=str,
)
def test_aim_survives_json_and_repr(fault: Fault) -> None:
    plan = FaultPlan((fault,))
    assert eval(repr(plan), {"Fault": Fault, "FaultPlan": FaultPlan}) == plan
    assert FaultPlan.loads(plan.dumps()) == plan
    assert hash(FaultPlan.loads(plan.dumps())) == hash(plan)


def test_repr_is_the_call_of_the_constructor() -> None:
    plan = FaultPlan((Fault("cut-body", 2, 3, amount=5), Fault("lost-ack")))
    assert repr(plan) == snapshot(
        "FaultPlan(faults=(Fault.cut_body(amount=5, nth=2, times=3), Fault.lost_ack()))"
    )


def test_text_of_a_parameter_that_only_the_fake_has_names_it() -> None:
    faults = (
        Fault.corrupt("zeros", silent=True, during=slice(5, None)),
        Fault.jitter(2, "uniform", during=slice(1, 2.5), times=1),
    )
    assert str(FaultPlan(faults)) == snapshot(
        "corrupt(how=zeros, silent=True) at 1 and after from 5 s on; "
        "jitter(2, distribution=uniform) at 1 from 1 s to 2.5 s with seed 0"
    )


def test_fault_with_a_predicate_can_not_be_written() -> None:
    with pytest.raises(ProgramError, match="a fault with `where` can't be written"):
        Fault.reset(where=lambda request: True).to_json()


def test_random_plan_depends_on_the_seed_only() -> None:
    plans = [random_plan(Random(seed), reversed(KINDS)) for seed in range(50)]
    assert plans == [random_plan(Random(seed), KINDS) for seed in range(50)]
    assert len(set(plans)) > 40


def test_random_plans_have_the_requested_kinds_at_the_first_requests() -> None:
    kinds = {"short", "reset", "hang"}
    plans = [random_plan(Random(seed), kinds, requests=3) for seed in range(200)]
    assert frozenset[str]().union(*(plan.kinds for plan in plans)) == kinds
    assert {fault.nth for plan in plans for fault in plan.faults} == {1, 2, 3}
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
            f.kind == "short" and f.nth <= 3 <= f.last and f.limit >= 100 for f in p.faults
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
