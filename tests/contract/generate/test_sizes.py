"""Programs on files of every order of size."""

from __future__ import annotations

import pytest

from fscontract.contract.generate.sizes import LARGE, SPARSE, Pace, programs, sparse_programs
from fscontract.contract.program.content import content
from fscontract.contract.program.program import OPERATIONS, Program, Step

pytestmark = pytest.mark.all_programs
ALL = frozenset(OPERATIONS) - {"change"}


def lengths(made: list[Program]) -> set[int]:
    """Return the lengths of the files."""
    return {program.length for program in made}


@pytest.mark.parametrize("power", [7, 8, 12, 13, 15, 16, 17])
def test_files_end_around_powers_of_two(power: int) -> None:
    assert {2**power - 1, 2**power, 2**power + 1} <= lengths(programs(ALL, "quick", 0))


def test_there_is_an_empty_file_one_of_a_byte_and_one_of_several_mebibytes() -> None:
    assert {0, 1, LARGE} <= lengths(programs(ALL, "quick", 0))
    assert LARGE > 3 << 20


def test_the_large_file_is_shorter_if_a_read_of_it_takes_long() -> None:
    paces = [Pace(seconds) for seconds in (1e-8, 1e-6, 1)]
    longest = [max(lengths(programs(ALL, "quick", 0, pace=pace))) for pace in paces]
    assert longest == [LARGE, 500_000, 200_003]


@pytest.mark.parametrize("read", ["py_readlines", "py_iterate", "py_readline"])
@pytest.mark.parametrize(
    ("seconds", "longest"), [(1e-8, LARGE), (1e-6, 131_073), (2e-5, 8193), (1, 4097)]
)
def test_all_lines_are_read_in_files_for_which_that_takes_no_long_time(
    read: str, seconds: float, longest: int
) -> None:
    made = programs(ALL, "quick", 0, pace=Pace(lines=seconds))
    whole = (p for p in made if p.steps[0] == Step(read, (None,)[: len(OPERATIONS[read])]))
    expected = min(longest, 65_537) if read == "py_readline" else longest
    assert max(program.length for program in whole if len(program.steps) > 1) == expected


def test_lines_of_a_given_file_are_read_if_that_takes_no_long_time() -> None:
    reads = {"py_readlines", "py_iterate"}
    for length, seconds, are_read in ((1 << 20, 1e-8, True), (1 << 20, 1e-5, False)):
        made = programs(ALL, "quick", 0, only_length=length, pace=Pace(lines=seconds))
        assert reads.issubset({p.steps[0].op for p in made}) == are_read


def test_the_large_file_is_read_at_once() -> None:
    whole = Step("read_into", (LARGE, 0, LARGE))
    assert any(whole in program.steps for program in programs(ALL, "quick", 0))


def test_a_stream_with_short_reads_is_read_to_the_end_of_the_large_file() -> None:
    """A read may deliver fewer bytes; pieces of 64 KiB follow."""
    sums = [
        sum(step.args[2] for step in program.steps if step.op == "read_into")
        for program in programs(ALL, "quick", 0)
        if program.length == LARGE and program.steps[0].op == "read_into"
    ]
    assert max(sums) > 2 * LARGE


def test_the_large_file_is_read_backwards_down_to_its_beginning() -> None:
    seeks = [
        [step.args[0] for step in program.steps if step.op == "seek"]
        for program in programs(frozenset({"seek", "read_into"}), "quick", 0)
        if program.length == LARGE
    ]
    backwards = [at for at in seeks if len(at) > 3 and at == sorted(at, reverse=True)]
    assert min(min(at) for at in backwards) < 300_000
    assert max(max(at) for at in backwards) == LARGE


def test_the_longest_line_of_the_large_file_is_read_whole_and_up_to_limits() -> None:
    large = [p.steps for p in programs(ALL, "quick", 0) if p.length == LARGE]
    made = [steps for steps in large if steps[0].op == "py_seek"]
    at = next(steps[0].args[0] for steps in made if steps[1].op == "py_next")
    end = content(LARGE).find(b"\n", at) + 1
    limits = [s[1].args[0] for s in made if s[0].args[0] == at and s[1].op == "py_readline"]
    assert end - at > 2000
    assert limits[0] is None
    assert limits[-1] == end - at
    assert [0 < limit < end - at for limit in limits[1:-1]] == [True] * 3


def test_each_read_past_the_end_is_followed_by_a_look_at_the_position() -> None:
    past = (Step("py_seek", (1, 0)), Step("get_pos"))
    made = [p.steps for p in programs(ALL, "quick", 0) if p.length == 0 and len(p.steps) == 3]
    ops = {steps[1].op for steps in made if (steps[0], steps[2]) == past}
    assert ops >= {"read_byte", "read_into", "py_read", "py_readinto", "py_readline", "py_next"}


def test_each_read_that_reached_the_end_is_made_again_after_a_seek_back() -> None:
    back, tell = Step("py_seek", (0, 0)), Step("py_tell")
    made = [p.steps for p in programs(ALL, "quick", 0) if p.length == 1 and len(p.steps) == 5]
    ops = {steps[0].op for steps in made if steps == (steps[0], steps[0], back, steps[0], tell)}
    assert ops >= {"read_byte", "py_read", "py_readinto", "py_readline", "py_next", "py_iterate"}


@pytest.mark.parametrize("length", [0, 1, 129])
def test_a_seek_by_nothing_is_made_inside_and_at_the_end(length: int) -> None:
    by_nothing = Step("py_seek", (0, 1))
    made = [p.steps for p in programs(ALL, "quick", 0) if p.length == length]
    before = {steps[0].args[0] for steps in made if steps[1:2] == (by_nothing,)}
    assert before == {length // 2, length}


def test_lines_are_read_with_hints_that_are_none() -> None:
    made = [p for p in programs(ALL, "quick", 0) if p.length == 129]
    hints = {step.args[0] for p in made for step in p.steps if step.op == "py_readlines"}
    assert hints >= {0, -2, None}


def test_a_line_that_ends_with_a_carriage_return_is_read_by_each_operation() -> None:
    made = [p for p in programs(ALL, "quick", 0) if p.length == 913]
    ops = {"py_readline": (None,), "py_readlines": (1,), "py_next": ()}
    ending = []
    for steps in (p.steps for p in made if p.steps[0].op == "py_seek"):
        at = steps[0].args[0]
        assert steps[1].args == ops.pop(steps[1].op)
        ending.append(content(913)[at:].partition(b"\n")[0][-1:])
    assert not ops
    assert ending == [b"\r"] * 3


def test_the_seed_decides_on_random_positions_alone() -> None:
    assert programs(ALL, "quick", 1) == programs(ALL, "quick", 1)
    changed = set(programs(ALL, "quick", 1)) ^ set(programs(ALL, "quick", 2))
    assert lengths(list(changed)) == {LARGE}


def test_a_given_file_is_the_only_one() -> None:
    assert lengths(programs(ALL, "quick", 0, only_length=100_000)) == {100_000}
    assert lengths(programs(ALL, "quick", 0, only_length=7)) == {7}


def test_a_higher_effort_has_more_sizes() -> None:
    quick, normal, deep = (lengths(programs(ALL, e, 0)) for e in ("quick", "normal", "deep"))
    assert quick < normal < deep


@pytest.mark.parametrize("op", ["py_read", "py_readall", "pread", "read_fully"])
def test_one_call_reads_more_than_a_part_of_a_multipart_request_except_at_quick(op: str) -> None:
    def longest(effort: str) -> int:
        return max(p.length for p in programs(ALL, effort, 0) if p.steps[0].op == op)

    assert [longest(e) > 8 << 20 for e in ("quick", "normal", "deep")] == [False, True, True]
    assert longest("normal") == longest("deep")


def test_calls_that_cost_round_trips_are_few() -> None:
    def calls(remote: bool) -> int:
        return sum(len(program.steps) for program in programs(ALL, "quick", 0, remote))

    assert calls(remote=True) < calls(remote=False) / 2


@pytest.mark.parametrize(("block", "longest"), [(512, 200_003), (4096, 409_699), (1 << 20, LARGE)])
def test_large_file_has_few_blocks_if_each_costs_a_round_trip(block: int, longest: int) -> None:
    """So a read of all of it is not taken for a hang."""
    lengths = {p.length for p in programs(ALL, "quick", 0, remote=True, block=block)}
    assert max(lengths) == longest
    assert max(p.length for p in programs(ALL, "quick", 0, block=block)) == LARGE


def test_operations_that_an_api_lacks_are_left_out() -> None:
    some = frozenset({"py_read", "py_seek"})
    assert {step.op for program in programs(some, "quick", 0) for step in program.steps} == some


@pytest.mark.parametrize("limit", [1 << 31, 1 << 32])
@pytest.mark.parametrize("op", ["seek", "pread", "read_fully", "pread_buffer", "py_seek"])
def test_sparse_files_are_read_around_the_limits_of_32_bits(limit: int, op: str) -> None:
    made = [p for p in sparse_programs(ALL) if p.length > limit]
    tried = {step.args[0] for program in made for step in program.steps if step.op == op}
    assert {limit - 2, limit, limit + 3} <= tried
    assert {program.length for program in sparse_programs(ALL)} == set(SPARSE)


def test_no_call_reads_much_of_a_sparse_file() -> None:
    steps = [step for program in sparse_programs(ALL) for step in program.steps]
    assert max(step.args[0] for step in steps if step.op == "read_into") <= 4096
    assert not any(step.op == "py_read" and step.args[0] in (None, -1) for step in steps)
