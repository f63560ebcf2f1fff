"""Tests of the programs that run while a server misbehaves."""

from __future__ import annotations

from collections import Counter

import pytest

from fscontract.contract.generate.fault_programs import SERVER_PROGRAMS, server_fault_programs
from fscontract.contract.program.program import Program, Step
from fscontract.contract.program.server_faults import HTTP, S3, kinds_at

pytestmark = pytest.mark.all_programs
OPERATIONS = frozenset({"read_byte", "read_into", "seek", "pread", "read_fully", "py_read"})
KINDS = kinds_at(HTTP)


def _kinds(found: list[Program]) -> Counter[str]:
    return Counter(kind for p in found if p.faults is not None for kind in p.faults.kinds)


def test_each_kind_has_as_many_programs_as_the_effort_says() -> None:
    found = _kinds(server_fault_programs(OPERATIONS, KINDS, 64, "quick", 0))
    assert found.keys() == KINDS
    assert set(found.values()) == {2 * SERVER_PROGRAMS["quick"]}


@pytest.mark.parametrize("effort", ["normal", "deep"])
def test_random_programs_suffice_for_each_kind_at_higher_efforts(effort: str) -> None:
    found = _kinds(server_fault_programs(OPERATIONS, KINDS, 64, effort, 0))
    assert found.keys() == KINDS
    assert min(found.values()) > SERVER_PROGRAMS[effort]


def test_same_seed_gives_the_same_programs() -> None:
    first = server_fault_programs(OPERATIONS, KINDS, 64, "quick", 1)
    assert first == server_fault_programs(OPERATIONS, KINDS, 64, "quick", 1)
    assert first != server_fault_programs(OPERATIONS, KINDS, 64, "quick", 2)


def test_files_are_read_in_one_call_with_each_kind() -> None:
    found = server_fault_programs(OPERATIONS | {"fs_cat_file"}, KINDS, 64, "quick", 0)
    whole = [p for p in found if p.steps == (Step("fs_cat_file", (None, None)),)]
    assert _kinds(whole).keys() == KINDS


def test_kinds_that_clients_retry_strike_each_request_of_a_whole_read() -> None:
    """The stream and the read may ask for the length, before the read asks for the bytes."""
    found = server_fault_programs(OPERATIONS | {"fs_cat_file"}, KINDS, 64, "quick", 0)
    whole = [p for p in found if p.steps == (Step("fs_cat_file", (None, None)),) and p.faults]
    faults = [p.faults.faults[0] for p in whole if p.faults and p.faults.kinds == {"slow-down"}]
    assert {fault.nth for fault in faults} == {1, 2, 3}


@pytest.mark.parametrize("place", [S3, HTTP])
def test_whole_objects_of_s3_are_not_compressed(place: str) -> None:
    """An object that was stored compressed has the same answer."""
    found = server_fault_programs(OPERATIONS, kinds_at(place), 64, "quick", 0)
    compressed = [p.faults for p in found if p.faults and "gzip-bodies" in p.faults.kinds]
    ranged = {fault.offset is not None for plan in compressed for fault in plan.faults}
    assert ranged == {place == S3}


def test_kinds_that_clients_retry_after_a_delay_strike_at_most_two_requests() -> None:
    for program in server_fault_programs(OPERATIONS, frozenset({"slow-down"}), 64, "quick", 0):
        assert program.faults is not None
        (fault,) = program.faults.faults
        assert fault.last - fault.nth < 2
