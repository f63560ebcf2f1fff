"""Tests of the kinds of faults of servers, as data."""

from __future__ import annotations

from random import Random

import pytest

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.fault_kinds import OPERATIONS
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan, random_plan, smaller
from fscontract.contract.program.server_faults import (
    HTTP,
    S3,
    SERVER_FAULTS,
    clause_of_server,
    kinds_at,
)


def test_kinds_have_other_names_than_those_of_other_places() -> None:
    assert not SERVER_FAULTS.keys() & FAULTS.keys()
    for name, kind in SERVER_FAULTS.items():
        assert (kind.name, kind.meaning[-1]) == (name, ".")
        assert kind.operations <= set(OPERATIONS)
        assert kind.places <= {HTTP, S3}


@pytest.mark.parametrize("kind", SERVER_FAULTS)
def test_plan_of_each_kind_is_read_back_and_shrinks(kind: str) -> None:
    plan = FaultPlan((Fault(kind, 3, times="all"),))
    assert FaultPlan.loads(plan.dumps()) == plan
    assert all(f.kind == kind for simpler in smaller(plan) for f in simpler.faults)
    assert random_plan(Random(1), [kind]).kinds == {kind}


def test_parameters_and_operations_are_checked() -> None:
    assert Fault("stall-bodies", seconds=3).delay == 3
    with pytest.raises(ProgramError, match="unknown parameter seconds of redirect"):
        Fault("redirect", seconds=3)
    with pytest.raises(ProgramError, match="operation of refuse-head must be of head"):
        Fault("refuse-head", operation="get")


def test_clause_is_that_of_the_first_kind() -> None:
    assert clause_of_server({"cut-bodies", "gzip-bodies"}) == "server.gzip-bodies"
    assert clause_of_server({"reset"}) == clause_of_server(()) == ""
    assert kinds_at(HTTP) < kinds_at(S3)
