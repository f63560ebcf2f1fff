"""Schedules as data: JSON, minimising, replaying."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fscontract.contract.concurrency import ConcurrencyReport, Schedule, replay_schedule
from fscontract.contract.concurrency.schedule import Switch, shrink
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.program import Step

Check = Callable[..., ConcurrencyReport]
MakeBinding = Callable[[str], Any]
READ = Step("pread", (6, 8, 0, 8))
BYTE = Step("read_byte")


def test_a_schedule_survives_json() -> None:
    """What is written is what is read."""
    schedule = Schedule(48, ((READ,), (BYTE, BYTE)), (Switch(0, 0, 3, 1),), True, False, 7)
    assert Schedule.from_json(json.loads(json.dumps(schedule.to_json()))) == schedule


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": -1}, "schedule: length must be 0 to 1073741824, not -1"),
        ({"threads": None}, "schedule: expected an object with length and threads"),
        ({"threads": []}, "schedule: threads must be 1 to 16 lists of calls"),
        ({"threads": [[["fly"]]]}, "schedule: thread 0 call 0: no operation 'fly'"),
        ({"threads": [[["change", "delete"]]]}, "schedule: threads share one stream"),
        ({"switches": [[0, 0]]}, "schedule: switch 1: expected [thread, call, event, to]"),
        ({"switches": [[5, 0, 1, 0]]}, "schedule: switch 1: thread must be 0 to 1, not 5"),
        ({"switches": [[0, 9, 1, 1]]}, "schedule: switch 1: call must be 0 to 0, not 9"),
        ({"mode": "fast"}, "schedule: mode must be controlled or free, not 'fast'"),
        ({"opcodes": 1}, "schedule: opcodes must be true or false, not 1"),
        ({"seed": "x"}, "schedule: seed must be 0 to"),
        ({"speed": 3}, "schedule: no key 'speed'; known: length, mode"),
    ],
)
def test_a_bad_schedule_is_one_clear_line(change: dict[str, Any], message: str) -> None:
    """The message names the place and what is allowed."""
    data = Schedule(48, ((READ,), (BYTE,))).to_json() | change
    with pytest.raises(ProgramError) as caught:
        Schedule.from_json(data)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_minimising_drops_threads_calls_and_switches() -> None:
    """What the failure does not need is gone, and switches follow their calls."""
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


def test_minimising_makes_no_more_runs_than_it_may() -> None:
    """A failure that comes and goes can't keep it busy."""
    runs: list[Schedule] = []

    def fails(candidate: Schedule) -> bool:
        runs.append(candidate)
        return False

    shrink(Schedule(48, ((BYTE,) * 30, (READ,) * 30)), fails, attempts=25)
    assert len(runs) == 25


@pytest.mark.parametrize(
    ("kind", "clause"),
    [("seeking", "pread.isolation"), ("scratch", "pread.buffers"), ("locking", "pread.concurrent")],
)
def test_a_schedule_replays(
    check: Check, make_binding: MakeBinding, features: frozenset[str], kind: str, clause: str
) -> None:
    """The JSON in a report shows the same again on a new stream."""
    report = check(kind, clause)
    again = replay_schedule(make_binding(kind), features, report.schedules_json[clause])
    assert again.clause == clause
    assert again.counterexample == (report.violations | report.missed)[clause]


def test_a_replay_on_a_right_stream_finds_nothing(
    check: Check, make_binding: MakeBinding, features: frozenset[str]
) -> None:
    """A fault that was mended is gone, and the interleaving is shown all the same."""
    data = check("seeking", "pread.isolation").schedules_json["pread.isolation"]
    again = replay_schedule(make_binding("memory"), features, data)
    assert (again.clause, again.counterexample) == (None, None)
    assert again.interleaving


def test_free_running_threads_can_be_replayed(
    make_binding: MakeBinding, features: frozenset[str]
) -> None:
    """Without switches, as the system has it."""
    data = Schedule(48, ((READ,) * 3, (READ,) * 3), free=True).to_json()
    assert replay_schedule(make_binding("memory"), features, data).clause is None
