"""The openings that are tried: always the same, everything once, and nothing beyond the model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import cache

import pytest

from fscontract.contract.api.openfile_options import BUFFER_SIZE, option_table
from fscontract.contract.generate import call_sequences, open_arguments, open_programs
from fscontract.contract.generate.open_arguments import Readings, stays
from fscontract.contract.models.openfile_clauses import CLAUSES, speaks_for
from fscontract.contract.models.openfile_stages import Case
from fscontract.contract.models.vectored_read import overlapping
from fscontract.contract.program.open_calls import METHODS, SCENES, STATUSES, BuilderCall
from fscontract.contract.program.program import OPERATIONS, Program, resolve_step

pytestmark = pytest.mark.all_programs

ALL = frozenset(OPERATIONS) - {"change", "py_write"}
OWN = frozenset({"fs.mine", "fs.s3a.readahead.range"})
UNSUPPORTED = frozenset({"fs.s3a.select.sql"})
STANDARD = sorted(option_table().standard_keys)


def source(
    effort: str = "quick",
    seed: int = 0,
    only: int | None = None,
    scenes: frozenset[str] = frozenset(SCENES),
    statuses: frozenset[str] = frozenset(STATUSES),
    operations: frozenset[str] = ALL,
) -> Iterator[Program]:
    """The programs for a target that can have everything, unless said otherwise."""
    return open_programs.programs(
        scenes, statuses, operations, OWN, UNSUPPORTED, effort, seed, only
    )


@cache
def quick() -> tuple[Program, ...]:
    """Those of a quick run."""
    return tuple(source())


def scene_of(program: Program) -> str:
    """Return the scenes at the path."""
    assert program.opening is not None
    return program.opening.scene


def calls_of(program: Program) -> tuple[BuilderCall, ...]:
    """The calls of the builder."""
    assert program.opening is not None
    return program.opening.calls


def every_call() -> set[BuilderCall]:
    """Every call of a builder in a quick run."""
    return {call for program in quick() for call in calls_of(program)}


def case_of(program: Program) -> Case:
    """The case of a program as the model sees it."""
    assert program.opening is not None
    opening = program.opening.resolved(program.length, 64)
    table = option_table()
    return Case(opening, program.length, frozenset(), table, OWN, UNSUPPORTED, program.streams)


def test_the_same_seed_gives_the_same_programs() -> None:
    """A failure found by a seed can be found again."""
    assert tuple(source()) == quick()


def test_the_seed_decides_on_the_random_programs_only() -> None:
    """The small openings are tried by every run, whatever its seed."""
    pairs = list(zip(quick(), source(seed=1), strict=True))
    differing = [i for i, (one, other) in enumerate(pairs) if one != other]
    assert differing[0] >= len(pairs) - 200
    assert len(differing) > 50


def test_every_program_can_be_read_back_from_strict_json() -> None:
    """Replay files and reports hold programs, and other languages read them."""
    for program in quick():
        text = json.dumps(program.to_json(), allow_nan=False)
        assert Program.from_json(json.loads(text)) == program


@pytest.mark.parametrize(("effort", "most"), [("quick", 2_000), ("normal", 15_000)])
def test_an_effort_has_about_so_many_programs(effort: str, most: int) -> None:
    """A run takes as long as its effort promises."""
    assert most * 3 / 4 < sum(1 for _ in source(effort)) <= most


def test_every_scene_status_method_and_policy_occurs() -> None:
    """Nothing that can be opened or said is left to luck."""
    assert {scene_of(p) for p in quick()} == set(SCENES)
    calls = every_call()
    assert {call[0] for call in calls} == set(METHODS)
    assert {call[1] for call in calls if call[0] == "with_file_status"} == set(STATUSES)
    policies = {c[:1] + c[2:] for c in calls if c[1:2] == ("fs.option.openfile.read.policy",)}
    for policy in option_table().policies:
        assert {("opt", policy), ("must", policy), ("opt", policy.upper())} <= policies


@pytest.mark.parametrize("key", STANDARD)
def test_every_standard_key_is_set_by_every_method_to_everything_that_can_be_misread(
    key: str,
) -> None:
    """A value that only one method reads wrongly is found."""
    calls = every_call()
    for way, text in itertools.product(("opt", "must"), open_arguments.TEXTS):
        assert (way, key, text) in calls
    for way, number in itertools.product(("opt", "must"), open_arguments.NUMBERS):
        assert (way + "_long", key, number) in calls
    for way, real in itertools.product(("opt", "must"), open_arguments.REALS):
        assert (way + "_double", key, real) in calls


def test_infinities_reach_the_builder_as_numbers_though_json_has_no_word_for_them() -> None:
    """They are text in a program, so that its JSON stays strict."""
    for program in quick():
        for call in case_of(program).opening.calls:
            assert not call[0].endswith("_double") or isinstance(call[2], int | float)
    assert ("must_double", "fs.option.openfile.length", "-inf") in every_call()


@pytest.mark.parametrize("key", STANDARD)
def test_every_example_of_the_table_is_tried_as_optional_and_as_mandatory(key: str) -> None:
    """The examples are where implementations are known to differ."""
    table = option_table()
    # With the type, since 1 and True are equal.
    calls = {(type(call[-1]), *call) for program in quick() for call in calls_of(program)}
    for value, _ in table.types[table.options[key].type].examples:
        if (key, value) == (BUFFER_SIZE, "2147483647"):
            continue  # a filesystem may allocate a buffer of the size that it is given
        if not isinstance(value, float):
            assert {(type(value), way, key, value) for way in ("opt", "must")} <= calls


@pytest.mark.parametrize("key", [*open_arguments.UNKNOWN_KEYS, *sorted(OWN | UNSUPPORTED), None])
def test_keys_that_are_not_standard_are_set_by_every_method(key: str | None) -> None:
    """The rejection of a key must not depend on the method that sets it."""
    methods = {call[0] for call in every_call() if len(call) == 3 and call[1] == key}
    assert methods >= {w + form for w in ("opt", "must") for form in ("", "_long", "_double")}


def test_a_mandatory_key_that_nobody_knows_is_set_whatever_lies_at_the_path() -> None:
    """The key has to be refused before the file is looked at."""
    refused = ("must", open_arguments.UNKNOWN, "1")
    assert {scene_of(p) for p in quick() if calls_of(p) == (refused,)} == set(SCENES)


def test_a_status_is_given_only_where_one_can_be_had_before_the_open() -> None:
    """A file that is missing, or not made yet, has no status."""
    without = {"late", "missing", "foreign"}
    for program in (p for p in source("normal") if scene_of(p) in without):
        kinds = {call[1] for call in calls_of(program) if call[0] == "with_file_status"}
        assert kinds <= {"none"}


def test_every_clause_of_the_model_is_spoken_for_by_a_quick_run() -> None:
    """No clause is left unexercised on a filesystem that has everything."""
    spoken: set[str] = set()
    for program in quick():
        spoken.update(speaks_for(case_of(program)))
    assert CLAUSES - spoken == set()


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_no_program_goes_beyond_a_file_that_is_said_to_be_longer(effort: str) -> None:
    """The model does not know the position and the reports of a stream there."""
    seen = 0
    for program in source(effort):
        declared = case_of(program).declared
        if declared is None or declared <= program.length:
            continue
        seen += 1
        if program.steps in Readings(OPERATIONS).past_end:
            continue
        for step in (resolve_step(s, program.length, 64) for s in program.steps):
            assert step.op not in ("available", "skip")
            if step.op in ("seek", "seek_to_new_source", "py_seek"):
                assert step.args[0] <= program.length
            if step.op == "py_seek":
                assert step.args[1] == 0
            if step.op == "read_vectored":
                assert all(at + size <= program.length for at, size in step.args[0])
    assert seen > 30


def test_files_that_are_said_to_be_longer_are_read_at_their_end_and_beyond() -> None:
    """Such a length tests the behaviour of a stream whose data ends early."""
    ops = {
        (step.op, step.args[0])
        for program in quick()
        if (case_of(program).declared or 0) > program.length
        for step in program.steps
        if step.args
    }
    assert {("seek", "len-1"), ("read_into", "len"), ("pread", "len"), ("pread", "len+1")} <= ops


def test_a_policy_is_followed_by_every_family_of_reads() -> None:
    """A wrong read policy never changes the bytes, however they are read."""
    families = Readings(ALL).families(open_programs.LENGTH_OF_FILE, overstated=False)
    for policy in option_table().policies:
        calls = (("opt", "fs.option.openfile.read.policy", policy),)
        assert {p.steps for p in quick() if calls_of(p) == calls} >= set(families)


def test_two_streams_of_one_builder_are_read_by_turns() -> None:
    """Streams that share a position, or a buffer, show only then."""
    twice = [p for p in quick() if p.streams == 2]
    assert len(twice) > 40
    assert all({s.stream for s in p.steps} == {0, 1} for p in twice)
    assert any(not calls_of(p) for p in twice)


def test_only_what_the_target_can_have_is_asked_for() -> None:
    """A program that can't be run is a program less."""
    some = frozenset({"seek", "read_byte", "py_read"})
    programs = list(
        source(scenes=frozenset({"file", "missing"}), statuses=frozenset({"own"}), operations=some)
    )
    assert {scene_of(p) for p in programs} == {"file", "missing"}
    given = {c[1] for p in programs for c in calls_of(p) if c[0] == "with_file_status"}
    assert given == {"own"}
    assert {s.op for p in programs for s in p.steps} == some


def test_a_target_without_scenes_is_asked_for_nothing() -> None:
    """There is nothing that it could open."""
    assert list(source(scenes=frozenset())) == []


@pytest.mark.parametrize("only", [0, 123])
def test_a_given_file_is_the_only_one_that_is_opened(only: int) -> None:
    """A target that can't be written has one file."""
    assert {p.length for p in source(only=only)} == {only}


def test_a_sample_for_a_remote_target_keeps_every_scene_and_every_refusal() -> None:
    """The programs with a single read come first when there is time for few."""
    drawn = call_sequences.sampled(source(), open_programs.REMOTE["quick"], 0)
    assert {scene_of(p) for p in drawn} == set(SCENES)
    assert len(drawn) == open_programs.REMOTE["quick"]
    assert call_sequences.sampled(source(), open_programs.REMOTE["quick"], 0) == drawn


def test_every_sample_reads_in_each_way_without_a_buffer() -> None:
    """A server without ranges refuses the second read; so that is found with every seed."""
    unbuffered = {p for p in quick() if calls_of(p) == open_programs.UNBUFFERED and p.streams == 1}
    families = Readings(ALL).families(open_programs.LENGTH_OF_FILE, overstated=False)
    assert {p.steps for p in unbuffered} >= {*families}
    for seed in (1, 2):
        drawn = call_sequences.sampled(source(seed=seed), open_programs.REMOTE["quick"], seed)
        assert unbuffered <= {*drawn}


def test_steps_are_the_same_objects_in_every_program() -> None:
    """A call is made ready once for each file; thousands of copies would be made ready again."""
    assert len({id(step) for program in quick() for step in program.steps}) < 300


@pytest.mark.parametrize("length", [0, 1, 10])
def test_the_families_of_an_overstated_file_stay_within_it(length: int) -> None:
    """The rule holds for the smallest files, too, in which most positions are at the end."""
    readings = Readings(ALL)
    families = readings.families(length, overstated=True)
    assert families
    assert all(stays(step, length) for steps in families for step in steps)
    assert len(families) < len(readings.families(length, overstated=False))


def test_an_api_with_python_files_alone_reads_by_them() -> None:
    """Bindings to Python's file objects have no other words."""
    python = frozenset(op for op in ALL if op.startswith("py_"))
    readings = Readings(python)
    assert [step.op for step in readings.glance] == ["py_read"]
    assert all(s.op in python for steps in readings.families(10, False) for s in steps)


def test_an_api_that_cannot_read_opens_all_the_same() -> None:
    """The failure of an open shows without a read."""
    assert {p.steps for p in source(operations=frozenset())} == {()}


@pytest.mark.parametrize("seed", range(3))
def test_ranges_within_the_file_do_not_overlap(seed: int) -> None:
    """The streams of open() and of openFile() may differ in whether they refuse those that do."""
    lists = [
        resolve_step(step, program.length, 0).args[0]
        for program in source(seed=seed)
        for step in program.steps
        if step.op == "read_vectored" and stays(step, program.length)
    ]
    assert lists
    assert not any(overlapping(tuple(sorted(ranges))) for ranges in lists)
