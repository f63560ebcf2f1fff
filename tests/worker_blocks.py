"""Distribute tests to the workers of pytest-xdist in blocks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

#: The most tests of a module that a worker gets at once. Whenever a test ends, the scheduler goes
#: through all blocks that its worker got, which takes long if each has one test.
SIZE = 8


class WorkerBlocks(LoadGroupScheduling):  # type: ignore[misc]
    """Give a worker a whole group, or a few consecutive tests of a module.

    Consecutive tests share the fixtures of their module.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._blocks: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def _split_scope(self, nodeid: str) -> str:
        """Return the name of the group or block of a test."""
        block = self._blocks.get(nodeid)
        if block is None:
            block = super()._split_scope(nodeid)
            if block == nodeid:
                module = nodeid.split("::", maxsplit=1)[0]
                block = f"{module} {self._counts[module] // SIZE}"
                self._counts[module] += 1
            self._blocks[nodeid] = block
        return block
