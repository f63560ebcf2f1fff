"""Tests of random dataset histories with dying processes: table and dataset stay equal."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from fscontract.contract.pipeline_bindings import MetadataTableBinding
from fscontract.contract.scenarios.instrumented_filesystem import DEATHS, Killed
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.binding import TableBinding
from tests.limits import DEADLOCK

PARTITIONS = ("", "day=1", "day=2", "a/b=3")


class History:
    """One dataset, and a random history of it."""

    def __init__(self, binding: MetadataTableBinding, seed: int) -> None:
        self.random = random.Random(seed)
        self.harness = TableHarness(binding)
        self.design = self.random.choice((1, 2, 2, 2))
        self.due = self.random.choice((None, 2, 5))
        self.count = 0
        self.log: list[str] = [f"seed {seed}, design {self.design}, services {self.due}"]
        content = {"day=1": {"old": 10}} if self.random.random() < 0.7 else {}
        self.writer = self.harness.table(content, **self.settings)

    @property
    def settings(self) -> dict[str, object]:
        """Settings of each writer."""
        return {"design": self.design, "compact_after": self.due, "keep_instants": 3}

    def play(self, steps: int) -> None:
        """Run `steps` events, and check after each."""
        names = [name for name, weight in STEPS for _ in range(weight)]
        for _ in range(steps):
            name = self.random.choice(names)
            dies = self.random.random() < 0.25
            self.log.append(f"{name}{', dies' if dies else ''}")
            if dies:
                self.harness.fs.clear_log()
                self.harness.fs.kill_at = self.random.randint(1, 14)
                self.harness.fs.death = self.random.choice(DEATHS)
            with suppress(Killed):
                getattr(self, name)()
            if dies:
                self.harness.fs.revive()
                self.harness.expect_dataset("; ".join(self.log), settles=False)
                self.writer = self.harness.next_writer(**self.settings)
                self.writer.recover()
            self.harness.expect_dataset("; ".join(self.log))

    def new(self, time: str) -> dict[str, dict[str, int]]:
        """Return new files of an action, in some partitions."""
        added: dict[str, dict[str, int]] = {}
        for _ in range(self.random.randint(1, 3)):
            self.count += 1
            partition = self.random.choice(PARTITIONS)
            added.setdefault(partition, {})[f"f{self.count}_0-1-0_{time}.parquet"] = self.count
        return added

    def some(self) -> dict[str, list[str]]:
        """Return some of the existing files."""
        listing = self.harness.model.listing()
        share = self.random.choice((0.3, 1.0))
        chosen = {
            p: [name for name in files if self.random.random() < share]
            for p, files in listing.items()
        }
        return {partition: names for partition, names in chosen.items() if names}

    def commit(self) -> None:
        """Add files."""
        action = self.random.choice(("commit", "deltacommit", "replacecommit", "compaction"))
        time = self.harness.begin(self.writer, action)
        self.harness.finish(self.writer, time, self.new(time))

    def clean(self) -> None:
        """Delete files."""
        self.harness.clean(self.writer, self.some())

    def fail(self) -> None:
        """Let an action die, possibly after changing the table, and another writer continue."""
        time = self.harness.begin(self.writer)
        change = self.harness.change(self.new(time), self.some())
        if self.random.random() < 0.7 and self.design == 2:
            self.writer.apply(time, change)
        self.writer = self.harness.next_writer(**self.settings)

    def roll_back(self) -> None:
        """Roll back an action by its own writer."""
        time = self.harness.begin(self.writer)
        change = self.harness.change(self.new(time))
        if self.design == 2:
            self.writer.apply(time, change)
        self.writer.roll_back(time, {p: list(files) for p, files in change.added.items()})
        self.harness.model.take_back(time)

    def restore(self) -> None:
        """Restore the dataset to a time before no deletion and no archived instant."""
        done = self.harness.completed(_DATA) if self.harness.has(_DATA) else []
        times = [time for time, action in done if action != "rollback"]
        known = list(self.harness.model.actions.items())
        if len(self.harness.model.worlds) > 1:
            return
        last = max((n for n, (_, action) in enumerate(known) if action.deleted), default=-1)
        possible = [time for time, _ in known[last + 1 :] if time in times]
        if possible and not any(a.state != "completed" for _, a in known[last + 1 :]):
            self.harness.restore(self.writer, self.random.choice(possible))

    def compact(self) -> None:
        """Compact the table."""
        self.writer.compact()

    def clean_table(self) -> None:
        """Clean the table."""
        self.writer.clean_table()

    def archive(self) -> None:
        """Archive instants."""
        self.writer.archive()

    def sync(self) -> None:
        """Let the table catch up."""
        self.writer.sync()


_DATA = "/dataset/.hoodie/timeline"
STEPS = (
    *(("commit", 6), ("clean", 3), ("fail", 2), ("roll_back", 1), ("restore", 1)),
    *(("compact", 2), ("clean_table", 1), ("archive", 1), ("sync", 1)),
)


@pytest.mark.parametrize("seeds", [range(start, start + 15) for start in range(0, 60, 15)], ids=str)
def test_table_equals_the_dataset_after_any_event(seeds: range) -> None:
    """Sixty histories, in which every fourth action dies at some write."""
    for seed in seeds:
        History(TableBinding(), seed).play(8)


def test_the_table_is_the_dataset_in_a_directory(tmp_path_factory: pytest.TempPathFactory) -> None:
    for seed in range(3):
        root = tmp_path_factory.mktemp("root")
        filesystem = partial(LocalFileSystem, str(root), durable=False)
        History(TableBinding("local", filesystem), seed).play(6)


@pytest.mark.deep
def test_two_thousand_histories() -> None:
    for seed in range(1000, 3000):
        History(TableBinding(), seed).play(12)


# Processes that really die ------------------------------------------------------------------

_SCRIPT = Path(__file__).with_name("dying.py")


def test_death_leaves_the_state_before_or_after_the_action(tmp_path: Path) -> None:
    """At each write of a commit, a clean, a rollback, a restore and the services, by os._exit."""
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 50
