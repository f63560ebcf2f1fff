"""A clause whose own example fails does not count as verified, whichever clauses are selected."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from fscontract.contract.binding import Action, Opened
from fscontract.contract.distributed.partial_results import (
    Partial,
    merge,
)
from fscontract.contract.distributed.shard import Shard
from fscontract.contract.isolation import protocol
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.runner.crashes import Crash, ended
from fscontract.contract.runner.result import UNVERIFIED, Verdict
from fscontract.contract.runner.runner import check, gather
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import Clause, Example, clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import binding_of, settings_for
from tests.samples import sampled

#: Where a run ends that runs examples alone.
VECTORS = ("exhaustive", 0)
#: How a call goes wrong.
WRONG = ("raises", "returns")
STREAMS = with_checks(clauses().values())
EXAMPLES = [
    (clause, number)
    for clause in STREAMS
    for number, example in enumerate(clause.examples)
    if example.program.faults is None
]


class Spoilt(StreamBinding):
    """Streams in memory on which one step always comes out wrong."""

    def __init__(self, step: Step, how: str) -> None:
        super().__init__(MemoryFileSystem(), "spoilt")
        value = (77, 0, 0) if step.op.endswith("_buffer") else "spoilt"
        returned = Outcome(Kind.RETURNED, value)
        self._wrong = returned if how == "returns" else Outcome(Kind.OTHER, detail="spoilt")
        self._spoilt = replace(step, stream=0)

    def bind(self, step: Step) -> Action:
        """The step as a function, spoilt if it is that one."""
        action = super().bind(step)
        if replace(step, stream=0) != self._spoilt:
            return action

        def run(opened: Opened) -> Outcome:
            action(opened)
            return self._wrong

        return run


def _checked(clause: Clause, example: Example, how: str) -> Verdict:
    """The outcome of the clause, selected alone, after its examples were run."""
    profile = load_profile("reference").with_features(clause.needs)
    only = replace(clause, examples=(example,))
    settings = Settings(profile, (only,), until=VECTORS)
    program = example.program
    step = resolve_step(program.steps[-1], program.length, settings.buffer(binding_of()))
    (found,) = check(Spoilt(step, how), settings).clauses
    return found.outcome


@pytest.mark.parametrize(
    ("clause", "number"),
    sampled(4, EXAMPLES, lambda one: f"{one[0].id}-{one[1]}"),
    ids=[f"{clause.id}-{number}" for clause, number in EXAMPLES],
)
def test_a_clause_is_not_verified_alone_if_its_own_example_fails(
    clause: Clause, number: int
) -> None:
    """Neither if the failure is charged to the clause, nor if it is another's."""
    how = WRONG[number % len(WRONG)]
    assert _checked(clause, clause.examples[number], how) is not Verdict.PASS


class Misreads(MemoryInputStream):
    """Reads of single bytes give another one."""

    def read_byte(self) -> int:
        return min(super().read_byte() ^ 1, 255)


def test_an_example_that_fails_by_a_clause_not_selected_says_which() -> None:
    (found,) = check(binding_of(Misreads), settings_for("seek.pos", until=VECTORS)).clauses
    assert found.outcome is Verdict.UNEXERCISED
    assert found.reason == snapshot(
        "its own example fails by read-byte.value, which this run does not judge"
    )


def test_an_example_that_fails_by_a_clause_selected_too_is_reported_as_that() -> None:
    result = check(binding_of(Misreads), settings_for("seek.pos", "read-byte.value", until=VECTORS))
    found = {c.clause.id: c.outcome for c in result.clauses}
    assert found == {"seek.pos": Verdict.PASS, "read-byte.value": Verdict.FAIL}


def test_an_example_that_is_left_out_since_it_ended_a_process_does_not_count() -> None:
    program = Program(5, (Step("read_byte"),))
    crash = Crash("read-byte.value", ended(program, 0, "returns", "killed", "crash"))
    (found,) = check(
        binding_of(), settings_for("seek.pos", crashes=(crash,), until=VECTORS)
    ).clauses
    assert found.outcome is Verdict.UNEXERCISED
    assert "read-byte.value" in found.reason


def test_an_example_that_hangs_in_a_clause_not_selected_does_not_count() -> None:
    class Hangs(MemoryInputStream):
        def read_byte(self) -> int:
            threading.Event().wait()
            return super().read_byte()

    (found,) = check(
        binding_of(Hangs), settings_for("seek.pos", timeout=0.2, until=VECTORS)
    ).clauses
    assert found.outcome in UNVERIFIED


def test_parts_of_a_run_come_to_what_one_process_says_of_an_example() -> None:
    settings = settings_for("seek.pos", until=VECTORS)
    parts = [
        gather(binding_of(Misreads), replace(settings, shard=Shard(number, 2)))
        for number in range(2)
    ]
    texts = [json.dumps(protocol.to_json(part)) for part in parts]
    sent = [protocol.from_json(Partial, json.loads(text)) for text in texts]
    kept = merge(sent, settings.selected).counterexamples
    assert kept.unheld == {"seek.pos": "read-byte.value"}
