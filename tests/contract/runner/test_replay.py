"""A replay file shows whether a violation is still there."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.runner.replay import replay
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import FEATURES, binding_of
from tests.contract.runner.test_runner import SeeksBack

REFERENCE = load_profile("reference")


def file(**changed: Any) -> dict[str, Any]:
    """The content of a replay file."""
    return {
        "fscontract-replay": 1,
        "clause": "seek.negative",
        "features": sorted(FEATURES),
        "buffer": 64,
        "program": {"length": 5, "streams": 1, "steps": [["seek", 2], ["seek", -1]]},
        **changed,
    }


def test_a_violation_that_is_there_still_fails() -> None:
    result = replay(binding_of(SeeksBack), file(), REFERENCE)
    assert result.outcome == "still fails"
    assert result.actual == "returned"
    assert result.trace[0] == "seek(2) -> returned"


def test_a_violation_that_is_gone_passes_now() -> None:
    result = replay(binding_of(MemoryInputStream), file(), REFERENCE)
    assert result.outcome == "passes now"


def test_another_violation_is_told_apart() -> None:
    result = replay(binding_of(SeeksBack), file(clause="read-byte.value"), REFERENCE)
    assert result.outcome == "fails otherwise"


def test_the_features_of_the_failed_run_count_and_not_those_of_the_profile() -> None:
    lax = sorted(FEATURES - {"rejects-seek-past-eof"})
    steps = {"length": 5, "steps": [["seek", 9]]}
    result = replay(
        binding_of(), file(clause="seek.lax-eof", features=lax, program=steps), REFERENCE
    )
    assert result.outcome == "still fails"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fscontract-replay": 2}, "not a replay file"),
        ({"clause": "no.such"}, "unknown clause 'no.such'"),
        ({"features": "all"}, "features must be a list"),
        ({"features": ["flies"]}, "unknown feature 'flies'"),
        ({"buffer": 0}, "buffer must be 1 to"),
        ({"program": {"length": 5, "steps": [["fly"]]}}, "unknown operation 'fly'"),
        ({"program": {"length": -1, "steps": []}}, "length must be 0 to"),
        ({"program": {"length": 5, "steps": [["seek"]]}}, "seek takes position"),
    ],
)
def test_a_file_that_can_not_be_read_is_refused_in_one_line(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        replay(binding_of(), file(**change), REFERENCE)
    assert "\n" not in str(caught.value)
