"""Failing programs become small and stay failing."""

from __future__ import annotations

from fscontract.contract.program.content import content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.shrink import ATTEMPTS, CALLS, shrink, with_needed_operations

READ = Step("read_byte")


def seeks_then_reads(program: Program) -> bool:
    """A made-up fault: a read that comes somewhere after a seek to 2 or more."""
    far = [i for i, s in enumerate(program.steps) if s.op == "seek" and s.args[0] not in (0, 1)]
    reads = [i for i, s in enumerate(program.steps) if s.op == "read_byte"]
    return bool(far and reads and max(reads) > min(far))


def test_calls_that_do_not_matter_are_dropped_and_arguments_made_small() -> None:
    noise = (READ, Step("get_pos"), Step("skip", (3,)))
    steps = (*noise, Step("seek", (3000,)), *noise, READ, *noise)
    small = shrink(Program(4099, steps), seeks_then_reads)
    assert small == Program(0, (Step("seek", (2,)), READ))


def test_anchors_become_numbers_where_numbers_do() -> None:
    small = shrink(Program(64, (Step("seek", ("len-1",)), READ)), seeks_then_reads)
    assert small.steps[0].args == (2,)


def test_words_that_begin_like_an_anchor_stay() -> None:
    step = Step("ob_get_ranges", ((0,), (2,), "length", "sync"))
    assert shrink(Program(5, (step,)), lambda _: True).steps[0].args[2:] == ("length", "sync")


def test_the_file_of_a_target_that_can_not_be_written_keeps_its_length() -> None:
    program = Program(777, (Step("seek", (5,)), READ))
    assert shrink(program, seeks_then_reads, same_length=True).length == 777


def reads_past_the_end(program: Program) -> bool:
    """A made-up fault: a positioned read from within a file to past its end."""
    (position, size, _, length), end = program.steps[0].args, program.length
    return bool(position < end < position + length <= position + size)


def test_a_read_past_the_end_shrinks_with_its_file() -> None:
    program = Program(4099, (Step("pread", (1586, 2741, 0, 2741)),))
    assert shrink(program, reads_past_the_end).length < 5


def reads_the_last_line(program: Program) -> bool:
    """A made-up fault: next() within the last line of a file, which has no newline."""
    *before, last = program.steps
    position = sum(step.args[0] for step in before)
    last_line = content(program.length).rfind(b"\n") + 1
    return last.op == "py_next" and last_line <= position < program.length


def test_a_file_ends_just_behind_the_call_that_fails_if_that_makes_the_program_small() -> None:
    """Calls before it matter in the longer file alone."""
    steps = (Step("seek", (1,)), Step("py_read", (1056,)), Step("py_next"))
    assert reads_the_last_line(Program(1263, steps))
    assert shrink(Program(1263, steps), reads_the_last_line) == Program(1, steps[2:])


def test_no_program_runs_twice() -> None:
    ran: list[Program] = []

    def fails(program: Program) -> bool:
        ran.append(program)
        return seeks_then_reads(program)

    shrink(Program(4099, (READ, Step("seek", (3000,)), READ, READ)), fails)
    assert len(ran) == len(set(ran))


def test_few_large_files_are_made_to_shrink_a_program() -> None:
    """Positions decrease with the file."""
    lengths = set()

    def reads_within(program: Program) -> bool:
        lengths.add(program.length)
        return seeks_then_reads(program) and program.steps[0].args[0] < program.length

    steps = (Step("seek", (2_000_000,)), READ)
    assert shrink(Program(3_149_827, steps), reads_within).length == 3
    assert len([length for length in lengths if length > 1_000_000]) < 25


def test_a_program_of_two_streams_needs_one_if_the_other_does_not_matter() -> None:
    program = Program(5, (Step("seek", (2,), 1), Step("read_byte", (), 1)), 2)
    assert shrink(program, seeks_then_reads).streams == 1


def test_the_work_is_bounded() -> None:
    runs = 0

    def always(program: Program) -> bool:
        nonlocal runs
        runs += 1
        return len(program.steps) >= 400

    shrink(Program(5, (Step("seek", (2,)),) * 800), always)
    assert runs <= ATTEMPTS


def test_the_calls_of_a_long_program_are_bounded() -> None:
    calls = 0

    def needs_all(program: Program) -> bool:
        nonlocal calls
        calls += len(program.steps)
        return len(program.steps) >= 10_000

    assert len(shrink(Program(5, (READ,) * 10_000), needs_all).steps) == 10_000
    assert calls < CALLS + 10_000


def test_a_negative_number_becomes_zero_where_it_does_not_matter() -> None:
    small = shrink(Program(3, (Step("py_seek", (-1, 1)),)), lambda _: True)
    assert small.steps == (Step("py_seek", (0, 0)),)


def moves_back(program: Program) -> bool:
    """A made-up fault: a move forward, and one back by as much."""
    moves = [step.args[0] for step in program.steps]
    return len(moves) == 2 and moves[0] > 0 and sum(moves) == 0


def test_a_number_and_its_negative_shrink_together() -> None:
    small = shrink(
        Program(5, (Step("py_seek", (4096, 1)), Step("py_seek", (-4096, 1)))), moves_back
    )
    assert small.steps == (Step("py_seek", (1, 0)), Step("py_seek", (-1, 0)))


def test_a_negative_number_comes_as_close_to_zero_as_it_can() -> None:
    small = shrink(Program(5, (Step("py_seek", (-4096, 1)),)), lambda p: p.steps[0].args[0] < 0)
    assert small.steps == (Step("py_seek", (-1, 0)),)


def test_operations_and_a_builder_that_a_program_does_not_need_are_dropped() -> None:
    steps = (READ, Step("get_pos"), READ, Step("seek", (0,)), Step("close"))
    program = Program(
        5, steps, opening=Opening("file", (("opt", "fs.option.openfile.length", "5"),))
    )

    def fails(shorter: Program) -> bool:
        return len([step for step in shorter.steps if step.op == "read_byte"]) > 1

    assert with_needed_operations(program, fails, {"close"}) == Program(5, (READ, READ, steps[-1]))
