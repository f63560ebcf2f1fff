"""Programs around the ends of blocks of which only an opened file tells the size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fscontract.contract.generate.boundaries import (
    LARGEST_BLOCK,
    block_programs,
    unreachable_blocks,
)
from fscontract.contract.program.arguments import is_anchor
from fscontract.contract.program.program import OPERATIONS, Program
from fscontract.contract.runner.events import Event, PhaseStarted
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import binding_of, settings_for

ALL = frozenset(OPERATIONS) - {"change"}
BLOCK = 10_000
SIZES = (1, 77, 8192, 1 << 20, LARGEST_BLOCK)


def values(program: Program) -> Iterator[object]:
    """Yield the arguments of a program's calls, those in tuples too."""
    waiting: list[object] = [step.args for step in program.steps]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            waiting += value
        else:
            yield value


def numbers(program: Program) -> list[int]:
    """Return the numbers among the arguments."""
    return [value for value in values(program) if isinstance(value, int)]


@pytest.mark.parametrize("block", SIZES)
def test_programs_go_around_ends_of_blocks_by_numbers(block: int) -> None:
    made = block_programs(ALL, block, "quick", 0)
    assert {program.length for program in made} == {block + 3, 2 * block + 1}
    assert not any(is_anchor(value) for program in made for value in values(program))
    near = [p for p in made if any(abs(n - block) < 20 for n in numbers(p))]
    assert len(near) > 0.9 * len(made)


@pytest.mark.parametrize("block", SIZES)
def test_their_files_have_a_bounded_number_of_bytes(block: int) -> None:
    """However large the blocks are, and however far calls cost round trips."""
    made = block_programs(ALL, block, "quick", 0)
    assert len(made) <= 300
    assert block * len(made) <= 1 << 30
    assert len(block_programs(ALL, block, "quick", 0, remote=True)) == 30


def test_the_seed_decides_on_them() -> None:
    assert block_programs(ALL, 77, "quick", 1) == block_programs(ALL, 77, "quick", 1)
    assert block_programs(ALL, 77, "quick", 1) != block_programs(ALL, 77, "quick", 2)
    assert block_programs(ALL, 77, "quick", 1, True) == block_programs(ALL, 77, "quick", 1, True)


def test_a_given_file_is_the_only_one() -> None:
    made = block_programs(ALL, 77, "quick", 0, only_length=200)
    assert {p.length for p in made} == {200}
    assert {n // 77 for p in made for n in numbers(p) if n in (76, 77, 153, 154)} == {0, 1, 2}


@pytest.mark.parametrize(("block", "only"), [(LARGEST_BLOCK + 1, None), (77, 77), (77, 1)])
def test_there_are_none_where_no_file_has_the_end_of_a_block(block: int, only: int | None) -> None:
    assert unreachable_blocks(block, only)
    assert block_programs(ALL, block, "quick", 0, only_length=only) == []
    assert not unreachable_blocks(min(block, LARGEST_BLOCK), None)


def test_there_are_none_of_operations_that_are_not_there() -> None:
    some = frozenset({"skip", "py_read"})
    assert {s.op for p in block_programs(some, 77, "quick", 0) for s in p.steps} == some


class Broken(MemoryInputStream):
    """Its first byte of the second block is the one after it."""

    def read_byte(self) -> int:
        """Skip a byte there."""
        if self.get_pos() == BLOCK:
            super().read_byte()
        return super().read_byte()


def outcome(stream: type[MemoryInputStream], block: int | None) -> tuple[RunResult, list[str]]:
    """Return the result of a run on streams that read in such blocks, and its phases."""
    found: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, PhaseStarted):
            found.append(event.phase)

    binding = binding_of(stream)
    binding.block = block
    return check(binding, settings_for("read-byte.value", "seek.pos"), listen), found


def test_a_fault_at_the_end_of_a_block_shows_if_the_target_tells_of_its_blocks() -> None:
    """It lies beyond all other files."""
    assert outcome(Broken, None)[0].conforms
    result, phases = outcome(Broken, BLOCK)
    assert "blocks" in phases
    assert not result.conforms
    shown = next(c.counterexample for c in result.clauses if c.outcome is Verdict.FAIL)
    assert shown is not None
    assert shown.program is not None
    assert shown.program.length > BLOCK
    assert not result.warnings


def test_blocks_that_are_right_pass() -> None:
    result, _ = outcome(MemoryInputStream, BLOCK)
    assert result.conforms
    assert not result.warnings


@pytest.mark.parametrize("block", [None, 4096])
def test_blocks_that_are_not_known_or_as_the_buffer_have_no_programs(block: int | None) -> None:
    """Those around the buffer do."""
    result, phases = outcome(MemoryInputStream, block)
    assert "blocks" not in phases
    assert not result.warnings


def test_a_run_warns_of_blocks_that_are_too_large() -> None:
    """Clauses at their ends are not verified."""
    result, _ = outcome(MemoryInputStream, LARGEST_BLOCK + 1)
    assert result.conforms
    (warning,) = result.warnings
    assert f"blocks of {LARGEST_BLOCK + 1} bytes, whose ends were not tried" in warning
