"""Distribute tests to the workers of pytest-xdist in blocks."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

#: The most tests of a module that a worker gets at once. Whenever a test ends, the scheduler goes
#: through all blocks that its worker got, which takes long if each has one test.
SIZE = 8


class WorkerBlocks(LoadGroupScheduling):  # type: ignore[misc]
    """Give a worker a whole group, or a few consecutive tests of a module.

    Consecutive tests share the fixtures of their module. A worker stays with a module, and with
    its directory, whose servers, virtual machines and libraries it has started and imported.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._blocks: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        #: The last block of each worker.
        self._last: dict[Any, str] = {}

    def _assign_work_unit(self, node: Any) -> None:
        """Give a worker the next block for it."""
        block = self._next_for(node)
        self._last[node] = block
        self.workqueue.move_to_end(block, last=False)
        super()._assign_work_unit(node)

    def _next_for(self, node: Any) -> str:
        """Return the first group, or a block near the last one of a worker.

        Otherwise it is one of a directory where no other worker is, if there is one.
        """
        last = _location(self._last.get(node, ""))
        others = {_location(block)[0] for worker, block in self._last.items() if worker != node}
        ranks: dict[int, str] = {}
        for block in self.workqueue:
            location = _location(block)
            if not location[0] or location == last:
                return str(block)
            rank = 0 if location[0] == last[0] else 1 if location[0] not in others else 2
            ranks.setdefault(rank, block)
        return ranks[min(ranks)]

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


@cache
def _location(block: str) -> tuple[str, str]:
    """Return the directory and the module of a block; a group has no directory."""
    module = block.rpartition(" ")[0]
    return module.rpartition("/")[0], module
