"""Schedules as data: JSON, and shrinking."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.concurrency import Schedule
from fscontract.contract.concurrency.schedule import Switch, shrink
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.program import OPERATIONS, Step

READ = Step("pread", (6, 8, 0, 8))
BYTE = Step("read_byte")


@pytest.mark.parametrize("apart", [False, True])
def test_schedule_survives_json(apart: bool) -> None:
    schedule = Schedule(48, ((READ,), (BYTE, BYTE)), (Switch(0, 0, 3, 1),), True, False, 7, apart)
    assert Schedule.from_json(json.loads(json.dumps(schedule.to_json()))) == schedule


INVALID: dict[str, dict[str, Any]] = {
    "negative length": {"length": -1},
    "threads null": {"threads": None},
    "no threads": {"threads": []},
    "unknown operation": {"threads": [[["fly"]]]},
    "change of the file": {"threads": [[["change", "delete"]]]},
    "short switch": {"switches": [[0, 0]]},
    "switch of an unknown thread": {"switches": [[5, 0, 1, 0]]},
    "switch in an unknown call": {"switches": [[0, 9, 1, 1]]},
    "unknown mode": {"mode": "fast"},
    "opcodes that are a number": {"opcodes": 1},
    "seed that is text": {"seed": "x"},
    "unknown key": {"speed": 3},
    "unknown streams": {"streams": "two"},
}


def message(change: dict[str, Any]) -> str:
    """Return why a schedule is refused, without the list of operations and large numbers."""
    data = Schedule(48, ((READ,), (BYTE,))).to_json() | change
    with pytest.raises(ProgramError) as caught:
        Schedule.from_json(data)
    line = str(caught.value).replace(", ".join(OPERATIONS), "OPERATIONS")
    return line.replace(str(1 << 128), "2**128").replace(str(1 << 30), "2**30")


@pytest.mark.parametrize("change", INVALID.values(), ids=INVALID)
def test_invalid_schedule_is_refused_in_one_line(change: dict[str, Any]) -> None:
    assert message(change).startswith("schedule: ")
    assert message(change).isprintable()


def test_refusals_of_schedules_say_what_is_allowed() -> None:
    assert {name: message(change) for name, change in INVALID.items()} == snapshot(
        {
            "negative length": "schedule: length must be 0 to 2**30, got -1",
            "threads null": "schedule: expected an object with length and threads",
            "no threads": "schedule: threads must be 1 to 16 lists of calls",
            "unknown operation": "schedule: thread 0 call 0: unknown "
            "operation 'fly'; known: OPERATIONS",
            "change of the file": (
                "schedule: threads call streams of one file, so no change('delete')"
            ),
            "short switch": "schedule: switch 1: expected [thread, call, event, to], got [0, 0]",
            "switch of an unknown thread": "schedule: switch 1: thread must be 0 to 1, got 5",
            "switch in an unknown call": "schedule: switch 1: call must be 0 to 0, got 9",
            "unknown mode": "schedule: mode must be controlled or free, got 'fast'",
            "opcodes that are a number": "schedule: opcodes must be true or false, got 1",
            "seed that is text": "schedule: seed must be 0 to 2**128, got 'x'",
            "unknown key": (
                "schedule: unknown key 'speed'; known: length, mode, opcodes, seed, streams, "
                "switches, threads"
            ),
            "unknown streams": "schedule: streams must be one or each, got 'two'",
        }
    )


def test_shrinking_removes_threads_calls_and_switches() -> None:
    schedule = Schedule(
        48,
        ((BYTE, READ), (BYTE, BYTE), (BYTE, BYTE, READ)),
        (Switch(0, 0, 1, 1), Switch(0, 1, 4, 2), Switch(2, 2, 2, 0)),
    )

    def fails(candidate: Schedule) -> bool:
        return sum(READ in t for t in candidate.threads) == 2 and any(
            candidate.threads[s.thread][s.call] == READ for s in candidate.switches
        )

    smallest = shrink(schedule, fails)
    assert smallest.threads == ((READ,), (READ,))
    assert len(smallest.switches) == 1


@pytest.mark.parametrize(("first", "attempts"), [(60, 10), (136, 64)])
def test_one_of_very_many_switches_is_left_after_few_attempts(first: int, attempts: int) -> None:
    """The fewer of them matter, the more attempts it takes."""
    switches = tuple(Switch(event % 2, 0, event, 1 - event % 2) for event in range(200))

    def fails(candidate: Schedule) -> bool:
        return any(first <= switch.event < 140 for switch in candidate.switches)

    smallest = shrink(Schedule(48, ((READ,), (READ,)), switches), fails, attempts)
    assert len(smallest.switches) == 1


def test_shrinking_stops_after_its_attempts() -> None:
    runs: list[Schedule] = []

    def fails(candidate: Schedule) -> bool:
        runs.append(candidate)
        return False

    shrink(Schedule(48, ((BYTE,) * 30, (READ,) * 30)), fails, attempts=25)
    assert len(runs) == 25
