"""Random scenarios of metadata tables: actions of several kinds, after which files are listed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from fscontract.contract.scenarios.metadata_table.harness import A, B, C, TableHarness
from fscontract.contract.scenarios.scenario import Scenario

_PARTITIONS, _NAMES = (A, B, C, "x/y=1"), ("f", "g", "10", "9", " a")
#: Numbers of actions of a random scenario.
_FEWEST, _MOST = 3, 9


class _Action(NamedTuple):
    """An action, with a file that it adds or deletes if it exists."""

    name: str
    partition: str = ""
    file: str = ""
    size: int = 0

    def __str__(self) -> str:
        if self.name == "commit":
            return f"commit {self.partition}/{self.file} of {self.size} bytes"
        return f"{self.name} {self.partition}/{self.file}" if self.file else self.name


def random_scenario(rng: Random) -> Scenario[TableHarness]:
    """Return a scenario of random actions."""
    compact_after, actions = rng.choice((None, None, 1, 2, 3)), []
    for _ in range(rng.randint(_FEWEST, _MOST)):
        name = rng.choice(("commit", "commit", "commit", "clean", "roll back", "compact", "reopen"))
        file = rng.choice(_PARTITIONS), rng.choice(_NAMES)
        if name == "commit":
            actions.append(_Action(name, *file, rng.randint(0, 300)))
        else:
            actions.append(_Action(name, *(file if name == "clean" else ())))
    play = partial(_play, compact_after=compact_after, actions=actions)
    detail = ", ".join([f"compact_after {compact_after}", *map(str, actions)])
    description = "Random files are added and deleted; the table is compacted and opened again."
    return Scenario("random", ("metadata.files",), "metadata.files", play, description, detail)


def _play(harness: TableHarness, compact_after: int | None, actions: Sequence[_Action]) -> None:
    writer = harness.table(compact_after=compact_after)
    for action in actions:
        partition, file = action.partition, action.file
        is_there = file in harness.model.listing().get(partition, {})
        if action.name == "commit" and not is_there:
            harness.commit(writer, {partition: {file: action.size}})
        elif action.name == "clean" and is_there:
            harness.clean(writer, {partition: [file]})
        elif action.name == "roll back":
            time = harness.begin(writer)
            writer.roll_back(time, {})
            harness.model.take_back(time)
        elif action.name == "compact":
            harness.perhaps(writer.compact)
        elif action.name == "reopen":
            writer.close()
            writer = harness.writer(compact_after=compact_after)
        harness.expect_dataset(f"after {action.name}")
