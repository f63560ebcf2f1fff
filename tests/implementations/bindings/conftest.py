"""Fixtures shared by the tests of bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step

Calls: TypeAlias = Callable[..., list[Outcome]]


@pytest.fixture
def run() -> Iterator[Calls]:
    """A function that runs calls such as `("seek", 3)` on a new stream; returns their outcomes."""
    prepared: list[Binding] = []

    def run_on(binding: Binding, content: bytes, *calls: tuple[object, ...]) -> list[Outcome]:
        if binding not in prepared:
            binding.prepare()
            prepared.append(binding)
        opened = binding.open(binding.create(content))
        steps = [Step(str(op), tuple(args)) for op, *args in calls]
        outcomes = [binding.bind(step)(opened) for step in steps]
        binding.bind(Step("close"))(opened)
        return outcomes

    yield run_on
    for binding in prepared:
        binding.dispose()
