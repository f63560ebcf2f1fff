"""The table of the kinds of faults, made from the constructors."""

from __future__ import annotations

import pytest

from fscontract.contract.program.fault_kinds import OPERATIONS, PLACES
from fscontract.contract.program.faults import FAULTS, Fault

KINDS = sorted(FAULTS)


@pytest.mark.parametrize("name", KINDS)
def test_kind_of_fault_has_a_meaning_requests_and_places(name: str) -> None:
    kind = FAULTS[name]
    assert kind.name == name
    assert kind.meaning.endswith(".")
    assert kind.operations
    assert kind.operations <= set(OPERATIONS)
    assert kind.places
    assert kind.places <= set(PLACES)


@pytest.mark.parametrize("name", KINDS)
def test_default_and_random_numbers_of_a_kind_are_valid(name: str) -> None:
    for parameter in FAULTS[name].parameters.values():
        assert getattr(Fault(name), parameter.name) == parameter.default
        for value in parameter.values:
            fault = Fault.from_json({"kind": name, parameter.name: value})
            assert getattr(fault, parameter.name) == value


@pytest.mark.parametrize("name", KINDS)
def test_constructor_of_a_kind_makes_the_fault_with_its_defaults(name: str) -> None:
    assert getattr(Fault, name.replace("-", "_"))() == Fault(name)
