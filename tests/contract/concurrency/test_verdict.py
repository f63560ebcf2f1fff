"""The verdict on an execution: the call at fault, the violated clause, and the lines of a
report."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from inline_snapshot import snapshot

from fscontract.contract.concurrency.execution import Execution
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.concurrency.scheduler import Entry
from fscontract.contract.concurrency.verdict import (
    Fault,
    attribute,
    faults,
    first_fault,
    overlapping,
    spans_of,
    trace,
    victim,
)
from fscontract.contract.program.outcome import Outcome, returned
from fscontract.contract.program.program import Step
from tests.contract.concurrency.conftest import FEATURES

DATA = bytes(range(100, 148))
BYTE = Step("read_byte")
VECTORED = Step("read_vectored", (((4, 2),), "heap", "absent"))
HANG = Fault(-1, -1, ("every call ends",), "hang")


def pread(position: int, count: int = 4) -> Step:
    """Return a positioned read into a buffer of its size."""
    return Step("pread", (position, count, 0, count))


def gave(position: int, count: int = 4) -> Outcome:
    """Return the outcome of a read that returned bytes of the file."""
    return returned(count, DATA[position : position + count])


def execution(*calls: Sequence[tuple[Step, Outcome]], together: bool = True) -> Execution:
    """Return an execution of threads with one call each at a time, all together or in turn."""
    log: list[Entry] = []
    starts = [Entry("starts", thread, 0, "") for thread in range(len(calls))]
    ends = [Entry("returned", thread, 0, "") for thread in range(len(calls))]
    if together:
        log = [*starts, *ends]
    else:
        log = [entry for pair in zip(starts, ends, strict=True) for entry in pair]
    steps = tuple(tuple(step for step, _ in thread) for thread in calls)
    outcomes = [[outcome for _, outcome in thread] for thread in calls]
    return Execution(Schedule(len(DATA), steps), DATA, steps, outcomes, log, [], False)


def clause(*calls: tuple[Step, Outcome]) -> str:
    """Return the clause that an execution of threads with a call each violates, or ""."""
    run = execution(*([one] for one in calls))
    fault = first_fault(run, FEATURES)
    return "" if fault is None else attribute(run, fault)


def test_outcomes_of_some_serial_order_are_no_fault() -> None:
    assert clause((BYTE, returned(DATA[1])), (BYTE, returned(DATA[0]))) == ""


def test_wrong_stream_operation_violates_isolation() -> None:
    assert clause((BYTE, returned(DATA[9])), (pread(8), gave(8))) == "pread.isolation"


def test_wrong_positioned_read_beside_a_reader_violates_serializable() -> None:
    assert clause((BYTE, returned(DATA[0])), (pread(8), gave(9))) == "pread.serializable"


def test_wrong_positioned_read_beside_another_violates_thread_safe() -> None:
    assert clause((pread(30), gave(30)), (pread(8), gave(9))) == "model.pread-thread-safe"


def test_bytes_that_another_positioned_read_asked_for_violate_buffers() -> None:
    assert clause((pread(30), gave(30)), (pread(8), gave(30))) == "pread.buffers"


def test_wrong_vectored_read_beside_another_violates_multiple() -> None:
    right, wrong = (returned((returned(2, DATA[n : n + 2]),)) for n in (4, 9))
    assert clause((VECTORED, right), (VECTORED, wrong)) == "read-vectored.multiple"


def test_wrong_vectored_read_beside_other_calls_violates_concurrent() -> None:
    wrong = returned((returned(2, DATA[9:11]),))
    assert clause((VECTORED, wrong), (pread(8), gave(8))) == "read-vectored.concurrent"


def free(*log: tuple[str, int, int]) -> Execution:
    """Return an execution of a reader, a positioned and a vectored read, with events in order."""
    threads = [
        [(BYTE, returned(100)), (BYTE, returned(101))],
        [(pread(20), gave(30))],
        [(VECTORED, returned(2, DATA[4:6]))],
    ]
    run = execution(*threads)
    schedule = dataclasses.replace(run.schedule, free=True)
    entries = [Entry(*event) for event in log]
    return dataclasses.replace(run, schedule=schedule, log=entries)


def test_free_vectored_read_that_ended_before_is_not_charged() -> None:
    run = free(
        ("starts", 2, 0),
        ("starts", 0, 0),
        ("returned", 2, 0),
        ("starts", 1, 0),
        ("returned", 0, 0),
        ("starts", 0, 1),
        ("returned", 1, 0),
        ("returned", 0, 1),
    )
    assert attribute(run, Fault(1, 0, (), "")) == "pread.serializable"


def test_free_vectored_read_before_a_wrong_stream_operation_is_charged() -> None:
    run = free(
        ("starts", 1, 0),
        ("returned", 1, 0),
        ("starts", 0, 0),
        ("starts", 2, 0),
        ("returned", 0, 0),
        ("returned", 2, 0),
        ("starts", 0, 1),
        ("returned", 0, 1),
    )
    assert attribute(run, Fault(0, 1, (), "")) == "read-vectored.concurrent"


def test_free_call_that_met_none_is_charged_to_all() -> None:
    run = free(
        ("starts", 2, 0),
        ("returned", 2, 0),
        ("starts", 1, 0),
        ("returned", 1, 0),
        ("starts", 0, 0),
        ("returned", 0, 0),
        ("starts", 0, 1),
        ("returned", 0, 1),
    )
    assert attribute(run, Fault(1, 0, (), "")) == "read-vectored.concurrent"


def test_hang_violates_thread_safe() -> None:
    run = execution([(pread(8), gave(8))])
    run.hang = True
    assert faults(run, FEATURES) == (HANG,)
    assert attribute(run, HANG) == "model.pread-thread-safe"


@pytest.mark.parametrize(
    ("step", "kind"), [(BYTE, "stream"), (pread(8), "positioned"), (VECTORED, "vectored")]
)
def test_victim_is_the_kind_of_the_faulty_call(step: Step, kind: str) -> None:
    run = execution([(step, returned(7))])
    assert victim(run, Fault(0, 0, (), "")) == kind
    assert victim(run, HANG) == "hang"


def test_calls_overlap_if_one_starts_before_the_other_ends() -> None:
    calls = [(pread(8), gave(8))], [(pread(30), gave(30))]
    assert overlapping(execution(*calls))
    assert not overlapping(execution(*calls, together=False))


def test_span_of_a_call_that_never_ends_is_up_to_the_end_of_the_log() -> None:
    run = execution([(pread(8), gave(8))])
    run.log.pop()
    assert spans_of(run)[0, 0] == (0, 1)


def test_trace_numbers_the_lines_up_to_the_faulty_call() -> None:
    run = execution([(pread(8), gave(9))], [(pread(30), gave(30))])
    fault = first_fault(run, FEATURES)
    assert trace(run, fault) == snapshot(
        (
            "1  T0 pread(8, 4, 0, 4)  starts",
            "2  T1 pread(30, 4, 0, 4)  starts",
            (
                "3  T0 pread(8, 4, 0, 4) returned 4, buffer 6d 6e 6f 70, expected returns 4 "
                "(or 1 to 4), the bytes from 8: 6c 6d 6e 6f (no serial order fits)"
            ),
        )
    )


def test_trace_of_a_hang_ends_with_a_line_about_all_threads() -> None:
    lines = trace(execution([(pread(8), gave(8))]), HANG)
    assert len(lines) == 3
    assert lines[-1] == snapshot("3  all threads hang")
