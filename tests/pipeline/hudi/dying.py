"""Processes that die at each write of each action, in directories below the first argument."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from fscontract.contract.models.metadata_table import Listing
from fscontract.contract.scenarios.instrumented_filesystem import (
    AFTER,
    BEFORE,
    InstrumentedFileSystem,
)
from fscontract.contract.scenarios.metadata_table.failures import ACTIONS
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.binding import TableBinding

DIED, ENDED = 77, 78


class Exiting(InstrumentedFileSystem):
    """Exits the process at the write."""

    def _die(self) -> NoReturn:
        os._exit(DIED)


def harness_in(root: Path) -> TableHarness:
    """Return a harness on a directory."""
    harness = TableHarness(TableBinding("local", lambda: LocalFileSystem(str(root), durable=False)))
    harness.fs = Exiting(harness.fs.inner)
    return harness


def dies(root: Path, name: str, number: int) -> bool:
    """Return True if the action has that many writes; check its remains, and what follows."""
    before, action = ACTIONS[name]
    harness = harness_in(root)
    writer = harness.table()
    before(harness, writer)
    known = harness.model.listing()

    child = os.fork()
    if child == 0:
        harness.fs.clear_log()
        harness.fs.kill_at, harness.fs.death = number, (BEFORE, AFTER)[number % 2]
        action(harness, writer)
        os._exit(ENDED)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (DIED, ENDED), status
    seen = harness.listing()
    assert seen == harness.listing()
    after = _after(name, seen)
    assert seen in (known, after), (name, number, seen, known)
    other = harness.next_writer()
    time = other.begin("commit")
    other.finish(time, harness.change({"day=1": {"next": 1}}))
    seen = harness.listing()
    assert seen["day=1"]["next"] == 1
    other.compact()
    other.clean_table()
    assert harness.listing() == seen
    assert len(harness.own_files()) == 1
    return status == DIED


def _after(name: str, seen: Listing) -> Listing | None:
    """Return the listing after a completed action; a commit's names contain its instant."""
    if name == "a commit":
        new = next((n for n in seen.get("day=1", {}) if n.startswith("new_")), "")
        other = new.replace("new_", "c_")
        return {"day=1": {"a1": 10, "a2": 20, new: 7}, "day=3": {other: 8}}
    if name == "a clean":
        return {"day=1": {"a2": 20}}
    if name == "a restore":
        return {"day=1": {"a1": 10, "a2": 20, "one": 1}, "day=2": {"b1": 30}, "day=3": {"one": 2}}
    return None


def main(root: Path) -> int:
    """Run all actions; return the number of deaths."""
    count = 0
    for place, name in enumerate(ACTIONS):
        for number in range(1, 60):
            directory = root / f"{place}-{number}"
            directory.mkdir()
            if not dies(directory, name, number):
                break
            count += 1
    return count


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
