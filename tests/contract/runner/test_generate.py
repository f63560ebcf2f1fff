"""The sources of programs are deterministic, cover the boundaries and respect what is asked."""

from __future__ import annotations

import itertools

import pytest

from fscontract.contract.generate import (
    buffers,
    call_alphabet,
    call_sequences,
    fault_programs,
    hypothesis_search,
    sizes,
)
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM
from fscontract.contract.program.program import OF_FILE, OPERATIONS, Program, Step
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import MakeExecutor

pytestmark = pytest.mark.all_programs

ALL = frozenset(OPERATIONS) - OF_FILE


def test_the_alphabet_has_every_operation() -> None:
    # In separate programs: few files have the reads, and none needs the block in longer ones.
    alone = {"py_read1", "py_readinto1", "py_peek", "py_with_error", "py_flush"}
    few = {"py_iterate", "py_read_default"}  # after few calls: others make the same steps
    streams = ALL - alone - few - WITHOUT_STREAM.keys()
    assert {s.op for s in call_alphabet.full(ALL)} == streams
    assert {s.op for p in buffers.programs(ALL) for s in p.steps} >= alone
    assert {s.op for p in sizes.programs(ALL, "quick", 0) for s in p.steps} >= few


def test_every_claim_of_a_capability_is_tried() -> None:
    made = call_sequences.capability_programs(ALL)
    assert any("read_vectored" in {s.op for s in p.steps} for p in made)
    assert call_sequences.capability_programs(ALL - {"has_capability"}) == []


def test_every_step_of_the_alphabet_can_be_read_back_from_json() -> None:
    for step in [*call_alphabet.full(ALL), *call_alphabet.around_buffer(ALL)]:
        assert Step.from_json(step.to_json()) == step


def test_the_enumeration_is_the_same_each_time_and_short_programs_come_first() -> None:
    first, second = (list(call_sequences.short_programs(ALL, 64, "quick")) for _ in range(2))
    assert first == second
    alone = [i for i, p in enumerate(first) if len(p.steps) == 1]
    assert alone == list(range(len(alone)))


def test_where_a_stream_goes_to_a_boundary_of_its_buffer_it_is_asked_what_is_available() -> None:
    """LocalFileSystem of Hadoop counts from another place there (H17)."""
    pairs = {p.steps for p in call_sequences.short_programs(ALL, 64, "quick") if p.length > 64}
    for going in (Step("seek", ("buf",)), Step("skip", ("buf",))):
        assert (going, Step("available")) in pairs


def test_the_enumeration_asks_for_no_operation_that_is_not_there() -> None:
    some = frozenset({"seek", "read_byte", "py_read"})
    assert {s.op for p in call_sequences.short_programs(some, 64, "quick") for s in p.steps} == some


@pytest.mark.parametrize("effort", ["normal", "deep"])
def test_a_higher_effort_has_every_two_call_program_of_the_lower(effort: str) -> None:
    some = frozenset({"seek", "read_byte", "get_pos", "pread"})

    def pairs(which: str) -> set[Program]:
        source = itertools.islice(call_sequences.short_programs(some, 64, which), 30_000)
        return {p for p in source if len(p.steps) <= 2 and p.length == call_sequences.LENGTH}

    assert pairs("quick") <= pairs(effort)


def test_a_sample_keeps_the_short_programs_and_the_seed_decides_on_the_rest() -> None:
    def sample(seed: int) -> list[Program]:
        return call_sequences.sampled(call_sequences.short_programs(ALL, 64, "quick"), 900, seed)

    assert sample(1) == sample(1)
    assert sample(1) != sample(2)
    assert len(sample(1)) == 900


@pytest.mark.parametrize("before", [Step("close"), Step("seek", ("len",))])
def test_a_sample_has_every_call_after_a_close_and_at_the_end(before: Step) -> None:
    some = frozenset({"close", "seek", "py_next", "py_write", "read_into", "get_pos"})
    drawn = call_sequences.sampled(call_sequences.short_programs(some, 64, "quick"), 200, 0)
    after = {p.steps[1] for p in drawn if len(p.steps) == 2 and p.steps[0] == before}
    assert after == set(call_alphabet.full(some))


def test_the_seed_decides_on_the_random_programs() -> None:
    def some(seed: int) -> list[Program]:
        return list(itertools.islice(call_sequences.random_programs(ALL, 64, "quick", seed), 20))

    assert some(3) == some(3)
    assert some(3) != some(4)


def test_a_given_file_is_the_only_length_that_is_asked_for() -> None:
    lengths = {p.length for p in call_sequences.short_programs(ALL, 64, "quick", 123)}
    lengths |= {p.length for p in call_sequences.random_programs(ALL, 64, "quick", 0, 123)}
    assert lengths == {123}


def test_every_changing_program_changes_the_file_once_or_opens_it_again() -> None:
    for program in fault_programs.change_programs(ALL, frozenset({"overwrite", "delete"}), "quick"):
        changes = sum(s.op == "change" for s in program.steps)
        assert changes == 1 or (changes == 2 and Step("reopen") in program.steps)


def test_the_first_changing_programs_have_each_change_with_each_read_and_reopen_the_file() -> None:
    """A slow target has time for some of them only."""
    hows = frozenset({"overwrite", "delete", "append", "truncate"})
    programs = [*fault_programs.change_programs(ALL, hows, "quick")]
    first = programs[: len(programs) // 5]
    read = {(p.steps[0].args, p.steps[1].op) for p in first if len(p.steps) == 2}
    reads = {"read_byte", "read_into", "pread", "read_fully", "read_vectored", "read_buffer"}
    assert read == {((how,), op) for how in hows for op in reads}
    again = [p.steps for p in first if Step("reopen") in p.steps]
    assert {s.args[0] for steps in again for s in steps if s.op == "change"} == hows


def test_a_file_of_several_blocks_changes_too() -> None:
    programs = fault_programs.change_programs(ALL, frozenset({"overwrite", "append"}), "quick")
    changed = [p.steps for p in programs if p.length > 2 * 65536]
    assert all(Step("reopen") in steps for steps in changed)
    ways = [[s.args[0] for s in steps if s.op == "change"] for steps in changed]
    assert ["overwrite"] in ways
    assert ["append", "append"] in ways


class LosesByte(MemoryInputStream):
    """Skips a byte on the third read_byte."""

    def read_byte(self) -> int:
        """Lose the byte at 2."""
        if self._pos == 2:
            self._pos = 3
        return super().read_byte()


def test_hypothesis_finds_and_shrinks_a_fault_that_needs_a_sequence(
    executor: MakeExecutor,
) -> None:
    subject = executor(LosesByte)
    found = hypothesis_search.search(
        lambda p: subject.run(p).violation is not None,
        frozenset({"read_byte", "get_pos"}),
        64,
        "normal",
        0,
    )
    assert found is not None
    assert [s.op for s in found.steps] == ["read_byte"] * 3


def test_hypothesis_is_not_asked_at_quick_effort() -> None:
    assert hypothesis_search.EXAMPLES["quick"] == 0
