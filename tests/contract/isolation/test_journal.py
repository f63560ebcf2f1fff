"""The journal says which program a process was running when it died."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator

import pytest

from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.isolation.journal import SharedJournal, shared_file
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.crashes import CurrentScenario
from fscontract.contract.runner.runner import check
from tests.contract.runner.conftest import binding_of, settings_for

SEEK, READ, PREAD = Step("seek", (-1,)), Step("read_byte"), Step("pread", ("len-1", 4, 0, 4))
PLAIN = Program(5, (SEEK, READ, Step("read_byte", stream=1)), streams=2)
OPENED = Program(5, (READ,), opening=Opening("file", (("opt", "a.b", "\udcff"),)))
FAULTY = Program(5, (READ,), faults=FaultPlan((Fault("reset", 2),)))
SCENARIO = CurrentScenario("file b'a'", "record.final")
SCHEDULE = Schedule(42, ((SEEK, READ), (PREAD,)), seed=7)


@pytest.fixture
def descriptor() -> Iterator[int]:
    """Return the descriptor of a journal's memory."""
    made = shared_file()
    yield made
    os.close(made)


@pytest.mark.parametrize("item", [PLAIN, OPENED, FAULTY, SCHEDULE, Program(0, ()), SCENARIO])
def test_item_that_is_begun_can_be_read_by_another_process(
    item: Program | Schedule | CurrentScenario, descriptor: int
) -> None:
    writer, reader = SharedJournal(descriptor), SharedJournal(descriptor)
    writer.begin(PLAIN)
    writer.begin(item)
    writer.step_index[0], writer.done = -1, 12
    assert (reader.item(), reader.step_index[0], reader.done) == (item, -1, 12)


def test_journal_of_a_process_that_died_can_be_read(descriptor: int) -> None:
    child = os.fork()
    if child == 0:
        SharedJournal(descriptor).begin(PLAIN)
        os._exit(7)
    os.waitpid(child, 0)
    assert SharedJournal(descriptor).item() == PLAIN


def test_journal_is_empty_before_a_program_and_after_clear(descriptor: int) -> None:
    journal = SharedJournal(descriptor)
    assert journal.item() is None
    journal.begin(PLAIN)
    journal.begin(None)
    assert journal.item() is None
    journal.begin(PLAIN)
    journal.clear()
    assert journal.item() is None


def test_program_that_does_not_fit_is_not_recorded(descriptor: int) -> None:
    journal = SharedJournal(descriptor)
    journal.begin(Program(0, (PREAD,) * (mmap.PAGESIZE * 64)))
    assert journal.item() is None


def test_run_records_each_of_its_programs(descriptor: int) -> None:
    seen: list[object] = []

    class Watched(SharedJournal):
        def begin(self, item: object) -> None:
            """Record the item, and read it back."""
            super().begin(item)
            seen.append(self.item())

    result = check(binding_of(), settings_for("capabilities.unknown"), journal=Watched(descriptor))
    assert result.conforms
    assert seen[0] is None
    # one more shows the boundaries of the target, and is not judged
    assert sum(isinstance(item, Program) for item in seen) == result.counts["programs"] + 1
