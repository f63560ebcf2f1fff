"""Tests of the programs that run while a server misbehaves."""

from __future__ import annotations

from collections import Counter

import pytest

from fscontract.contract.generate.server_fault_programs import PROGRAMS, programs
from fscontract.contract.program.program import Program
from fscontract.contract.program.server_faults import HTTP, kinds_at

pytestmark = pytest.mark.all_programs
OPERATIONS = frozenset({"read_byte", "read_into", "seek", "pread", "read_fully", "py_read"})
KINDS = kinds_at(HTTP)


def _kinds(found: list[Program]) -> Counter[str]:
    return Counter(kind for p in found if p.faults is not None for kind in p.faults.kinds)


def test_each_kind_has_as_many_programs_as_the_effort_says() -> None:
    found = _kinds(programs(OPERATIONS, KINDS, 64, "quick", 0))
    assert found.keys() == KINDS
    assert set(found.values()) == {2 * PROGRAMS["quick"]}


def test_same_seed_gives_the_same_programs() -> None:
    first = programs(OPERATIONS, KINDS, 64, "quick", 1)
    assert first == programs(OPERATIONS, KINDS, 64, "quick", 1)
    assert first != programs(OPERATIONS, KINDS, 64, "quick", 2)


def test_kinds_that_clients_retry_after_a_delay_strike_at_most_two_requests() -> None:
    for program in programs(OPERATIONS, frozenset({"slow-down"}), 64, "quick", 0):
        assert program.faults is not None
        (fault,) = program.faults.faults
        assert fault.last <= 2
