"""The clause that a failed open through a builder is charged to."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.contract.models.openfile_clauses import Fault, charge, exchanged, speaks_for
from fscontract.contract.models.openfile_stages import Case
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Kind

BUILD = Fault("build", Kind.ILLEGAL_ARGUMENT)
ONE_WAY = BUILD._replace(exchanged=True)
UNSUPPORTED = Fault("build", Kind.UNSUPPORTED)
RAISED = Fault("read", Kind.IO, "raised", op="read_byte")
ENDED = Fault("read", Kind.RETURNED, "end", op="read_byte")
OTHER_BYTES = Fault("read", Kind.RETURNED, "data", op="read_byte")
GET_RETURNED = Fault("get", Kind.RETURNED)


def case(*calls: tuple[Any, ...], scene: str = "file", streams: int = 1) -> Case:
    """Return an opening of a file of ten bytes on a filesystem that has the key my.key."""
    return Case(
        Opening(scene, calls),
        10,
        frozenset(),
        option_table(),
        frozenset({"my.key"}),
        frozenset({"my.select"}),
        streams,
    )


CHARGES = [
    ((), BUILD, "open.build-future"),
    ((("opt", "no.key", "1"),), BUILD, "open.opt-unknown"),
    ((("opt", PREFIX + "new", "1"),), BUILD, "open.std-opt-unrecognised"),
    ((("opt", "fs.s3a.readahead.range", "1"),), BUILD, "open.opt-foreign"),
    ((("must", "no.key", "1"),), GET_RETURNED, "open.must-unknown"),
    ((("must", PREFIX + "new", "1"),), GET_RETURNED, "open.std-must-unrecognised"),
    ((("must", "my.select", "1"),), GET_RETURNED, "open.must-unsupported"),
    ((("opt", "no.key", "1"), ("must", "no.key", "1")), GET_RETURNED, "open.last-wins"),
    ((("must", "no.key", "1"), ("opt", "no.key", "1")), BUILD, "open.last-wins"),
    ((("opt", READ_POLICY, "random"),), UNSUPPORTED, "open.std-opt-unsupported"),
    ((("must", READ_POLICY, "random"),), UNSUPPORTED, "open.std-must-unsupported"),
    ((("opt_long", LENGTH, 4), ("opt", LENGTH, "x")), ENDED, "open.last-wins"),
    ((("buffer_size", 4), ("opt_long", BUFFER_SIZE, 0)), BUILD, "open.last-wins"),
    ((("must", SPLIT_END, "20"),), ONE_WAY, "open.std-recognised"),
    ((("must", SPLIT_END, "20"),), RAISED._replace(exchanged=True), "open.std-must-ok"),
    ((("must", LENGTH, "abc"),), ONE_WAY, "open.opt-same-validation"),
    ((("opt", LENGTH, "abc"),), BUILD, "open.number-default"),
    ((("opt", BUFFER_SIZE, ""),), BUILD, "open.number-default"),
    ((("opt", LENGTH, " 10 "),), BUILD, "open.number-default"),
    ((("opt_long", LENGTH, -1),), BUILD, "open.length-negative"),
    ((("opt", LENGTH, "-5"),), BUILD, "open.length-negative"),
    ((("opt_long", SPLIT_START, -1),), BUILD, "open.split-negative"),
    ((("opt_long", LENGTH, 4),), BUILD, "open.length-longer-file"),
    ((("opt_long", LENGTH, 4),), ENDED, "open.length-minimum"),
    ((("opt_long", LENGTH, 10),), ENDED, "open.length-minimum"),
    ((("opt_long", LENGTH, 4),), RAISED, "open.length-beyond"),
    ((("opt_long", LENGTH, 4),), OTHER_BYTES, "open.length-beyond"),
    ((("opt", LENGTH, " 40 "),), BUILD, "open.number-default"),
    ((("opt_long", LENGTH, 40),), RAISED, "open.length-overstated"),
    ((("opt_long", SPLIT_END, 4),), ENDED, "open.split-hint"),
    ((("opt_long", SPLIT_END, 4),), RAISED, "open.split-past-end"),
    ((("opt", SPLIT_END, "-0"),), RAISED, "open.split-past-end"),
    ((("opt_long", SPLIT_END, 40),), OTHER_BYTES, "open.split-hint"),
    ((("opt_long", SPLIT_START, 2),), OTHER_BYTES, "open.split-hint"),
    ((("with_file_status", "own", 4), ("opt_long", SPLIT_START, 2)), ENDED, "open.split-hint"),
    ((("opt_long", SPLIT_START, 9), ("opt_long", SPLIT_END, 4)), BUILD, "open.split-reversed"),
    ((("opt_long", LENGTH, 10), ("opt_long", SPLIT_END, 4)), ENDED, "open.length-over-split"),
    ((("opt", READ_POLICY, "no, random"),), BUILD, "open.policy-list"),
    ((("opt", READ_POLICY, "nonsense"),), BUILD, "open.policy-unknown"),
    ((("opt", READ_POLICY, "hbase"),), BUILD, "open.policy-names"),
    ((("opt", READ_POLICY, "random"),), RAISED, "open.policy-data"),
    ((("opt", READ_POLICY, "vector"),), RAISED, "open.policy-vector"),
    ((("opt", FOOTER_CACHE, "maybe"),), BUILD, "open.footer-hint"),
    ((("buffer_size", 100),), BUILD, "open.buffer-size-method"),
    ((("buffer_size", -1),), BUILD, "open.buffer-size-method"),
    ((("buffer_size", 4),), Fault("set", Kind.UNSUPPORTED), "open.buffer-size-method"),
    ((("opt_long", SPLIT_START, 3),), Fault("set", Kind.OTHER), "open.option-methods"),
    ((("must", SPLIT_START, 1), ("opt", FOOTER_CACHE, True)), BUILD, "open.std-mixed"),
    ((("must", SPLIT_START, 1), ("opt", "no.key", "1")), BUILD, "open.std-mixed"),
    ((("must", SPLIT_START, 1), ("buffer_size", 16)), BUILD, "open.std-mixed"),
    ((("with_file_status", "none", None),), BUILD, "open.status-null"),
    ((("with_file_status", "parents", None),), BUILD, "open.status-filename-only"),
    ((("with_file_status", "scheme", None),), BUILD, "open.status-path"),
    ((("with_file_status", "subclass", None),), BUILD, "open.status-class"),
    ((("with_file_status", "located", None),), BUILD, "open.status-located"),
    ((("with_file_status", "name", None),), RAISED, "open.status-name"),
    ((("with_file_status", "name-subclass", None),), RAISED, "open.status-foreign-name"),
    ((("with_file_status", "name", 4),), ENDED, "open.status-name-used"),
    ((("with_file_status", "name", 11),), OTHER_BYTES, "open.status-name-used"),
    (
        (("with_file_status", "name", None),),
        Fault("set", Kind.ILLEGAL_ARGUMENT),
        "open.status-name-when",
    ),
    ((("with_file_status", "stale", None),), RAISED, "open.status-pinned"),
]


@pytest.mark.parametrize(("calls", "fault", "clause"), CHARGES, ids=[c[2] for c in CHARGES])
def test_failure_is_charged_to_the_clause_of_the_builder_call(
    calls: tuple[tuple[Any, ...], ...], fault: Fault, clause: str
) -> None:
    assert charge(case(*calls), fault) == clause


@pytest.mark.parametrize(("calls", "fault", "clause"), CHARGES, ids=[c[2] for c in CHARGES])
def test_open_exercises_the_clause_that_its_failure_would_violate(
    calls: tuple[tuple[Any, ...], ...], fault: Fault, clause: str
) -> None:
    assert clause in set(speaks_for(case(*calls)))


def test_failed_build_before_the_file_exists_violates_deferred_state() -> None:
    assert charge(case(scene="late"), BUILD) == "open.deferred-state"


def test_failure_of_a_second_stream_violates_build_twice() -> None:
    assert charge(case(streams=2), RAISED) == "open.build-twice"


@pytest.mark.parametrize("scene", ["missing", "directory", "unreadable"])
def test_open_without_a_readable_file_exercises_the_stage_of_failure(scene: str) -> None:
    spoken = set(speaks_for(case(scene=scene)))
    assert {"open.get-ioerror", "open.read-fails", "open.failure-stage"} <= spoken


def test_refused_key_exercises_no_clause_about_the_file() -> None:
    spoken = set(speaks_for(case(("must", "no.key", "1"), scene="missing")))
    assert spoken == {"open.must-unknown", "open.build-checks-options"}


def test_exchange_swaps_optional_and_mandatory_calls() -> None:
    calls = (("opt", "a", 1), ("must_long", "b", 2), ("buffer_size", 3))
    assert exchanged(calls) == (("must", "a", 1), ("opt_long", "b", 2), ("buffer_size", 3))
    assert exchanged(exchanged(calls)) == calls
