"""What tasks did, added up in the driver: counters of the block reader."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.accumulators import AccumulatorParam

from fscontract.pipeline.blockreader.readers import Counters


class CountersParam(AccumulatorParam):  # type: ignore[misc]
    """How Spark adds counters."""

    def zero(self, value: Counters) -> Counters:
        """Counters of nothing."""
        return Counters()

    def addInPlace(self, value1: Counters, value2: Counters) -> Counters:  # noqa: N802 - Spark's
        """Both together."""
        value1.add(value2)
        return value1


class Tally:
    """Counters of all tasks of one registration that came to their end.

    A task that failed, was cancelled, or whose rows were not all wanted (`limit`) tells nothing;
    one that Spark runs twice counts twice.
    """

    def __init__(self, context: Any) -> None:
        self._accumulator = context.accumulator(Counters(), CountersParam())

    @property
    def counters(self) -> Counters:
        """What was done so far."""
        value: Counters = self._accumulator.value
        return replace(value)

    @property
    def add(self) -> Any:
        """What tasks call: it can be sent to them."""
        return self._accumulator.add
