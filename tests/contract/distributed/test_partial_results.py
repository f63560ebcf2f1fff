"""The record of what a shard found."""

from __future__ import annotations

import pytest

from fscontract.contract.distributed.partial_results import HANG, Recorder
from fscontract.contract.distributed.shard import Shard
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.execution import Execution
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Counterexample
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import FEATURES, binding_of

_BACK = Program(5, (Step("seek", (-1,)),))


class Accepting(MemoryInputStream):
    """Accept seeks to before the start."""

    def seek(self, position: int) -> None:
        """Go to the start instead."""
        super().seek(max(position, 0))


@pytest.mark.parametrize("abandoned", [False, True])
def test_hang_while_shrinking_is_recorded_with_the_violation_unless_abandoned(
    abandoned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    binding = binding_of(Accepting)
    binding.prepare()
    examiner = Executor(binding, FEATURES, 64)
    found = examiner.run(_BACK).violation
    assert found is not None
    recorder = Recorder(examiner, frozenset({"seek.negative", "skip.progress"}), Shard())

    def end(*args: object, **options: object) -> Execution:
        raise InterruptedError

    monkeypatch.setattr(examiner, "run", end)
    with pytest.raises(InterruptedError):
        recorder.violation(found)
    if abandoned:
        recorder.abandon()
    recorder.hang("skip.progress", Counterexample(_BACK, ("it ends",), "still running"))
    (record,) = recorder.records
    assert record.kind == HANG
    assert record.signature == (() if abandoned else found.signature)
