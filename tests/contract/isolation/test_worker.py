"""The process of an isolated run answers a request with lines of JSON."""

from __future__ import annotations

import json
import math
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.isolation import worker
from fscontract.contract.isolation.journal import SharedJournal, shared_file
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.sandbox import SandboxedBinding

CLAUSE = "capabilities.unknown"
RUN = RunOptions(None, (), (CLAUSE,), "all", "quick", None, 0, 10.0, {}, None, None)


@pytest.fixture
def journal() -> Iterator[SharedJournal]:
    """Return a new journal."""
    memory = shared_file()
    yield SharedJournal(memory)
    os.close(memory)


def answers(journal: SharedJournal, target: str, *, go: bool = True, **more: Any) -> list[Any]:
    """Return what a worker answers to a request; without `go` the parent is gone afterwards.

    Otherwise it sends the seconds that the task may take.
    """
    request = {
        "target": target,
        "run": asdict(RUN),
        "known": [],
        "crashes": [],
        "hangs": math.inf,
        "until": None,
        "discard": [],
        "do": "run",
        "programs": [],
        **more,
    }
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(json.dumps(request).encode() + b"\n" + (b"60.0\n" if go else b""))
        if not go:
            ours.shutdown(socket.SHUT_WR)
        assert worker._Child(theirs, journal).work() == 0
        theirs.shutdown(socket.SHUT_RDWR)
        return [json.loads(line) for line in ours.makefile()]


def test_worker_is_ready_once_the_target_is_made(journal: SharedJournal) -> None:
    (ready,) = answers(journal, "memory", go=False)
    assert (ready["ready"], ready["apis"], ready["watched"]) == ("memory", ["stream"], True)


def test_unknown_target_is_a_mistake_of_the_user(journal: SharedJournal) -> None:
    (answer,) = answers(journal, "nosuch")
    assert answer.keys() == {"usage"}
    assert "'nosuch'" in answer["usage"]


def test_run_sends_its_events_and_says_that_it_ended(journal: SharedJournal) -> None:
    sent = answers(journal, "memory")
    events = [answer["event"].lower() for answer in sent if "event" in answer]
    assert events[0].endswith("started")
    assert events[-1].endswith("finished")
    assert sent[-1] == {"ended": True}
    (result,) = sent[-2]["result"]["clauses"]
    assert (result["clause"], result["outcome"]) == (CLAUSE, "pass")


def test_programs_to_try_are_run_without_a_verdict(journal: SharedJournal) -> None:
    program = Program(5, (Step("read_byte"),))
    sent = answers(journal, "memory", do="try", programs=[program.to_json()])
    assert not [answer for answer in sent if "event" in answer]
    assert journal.item() == program


def test_removal_that_hangs_after_programs_is_a_warning(
    journal: SharedJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hang in the next process, too."""

    def hang(*seconds: float) -> None:
        raise TargetError("hangs while it is removed")

    monkeypatch.setattr(SandboxedBinding, "dispose", hang)
    program = Program(5, (Step("read_byte"),))
    sent = answers(journal, "memory", do="judge", observed={}, programs=[program.to_json()])
    assert {"warning": "hangs while it is removed"} in sent
    assert any("discarded" in answer for answer in sent)
    assert sent[-1] == {"ended": True}


def test_parent_that_is_gone_is_noted_in_the_journal(journal: SharedJournal) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        request = {"target": "memory", "run": asdict(RUN), "known": []}
        ours.sendall(json.dumps(request).encode() + b"\n")
        ours.close()
        assert worker._Child(theirs, journal).work() == worker.LOST
    assert journal.unheard
