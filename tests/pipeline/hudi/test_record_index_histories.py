"""Random histories of tables with an index of records, and writers that die at each write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.scenarios.instrumented_filesystem import (
    DEATHS,
    InstrumentedFileSystem,
    Killed,
)
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import RECORD_INDEX, Instant
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import PATH, Ticks
from tests.pipeline.hudi.test_record_keys import (
    A,
    B,
    Group,
    commit,
    group,
    in_index,
    in_rows,
    latest,
    sizes_of,
    table_of,
)

KEYS = "abcdefgh"


class History:
    """A table and a model of it: the keys of each file group, after each completed action."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.fs = MemoryFileSystem()
        self.groups: dict[Group, set[str]] = {group(0): set("abc"), group(1, B): set("de")}
        self.writer = table_of(self.fs, self.groups, 3)
        self.count = 1
        self.former: list[tuple[Instant, dict[Group, set[str]]]] = []

    def change(self) -> dict[Group, set[str]]:
        """Return the new keys of some file groups: inserted, deleted, and moved to others."""
        groups = self.random.sample(sorted(self.groups), k=min(2, len(self.groups)))
        self.count += 1
        groups += [group(self.count, self.random.choice([A, B]))][: self.random.randint(0, 1)]
        elsewhere = set().union(
            *(keys for at, keys in self.groups.items() if at not in groups), set()
        )
        changed: dict[Group, set[str]] = {at: set() for at in groups}
        for key in sorted(set(KEYS) - elsewhere):
            if self.random.random() < 0.7:
                changed[self.random.choice(groups)].add(key)
        return changed

    def commit(self) -> None:
        """Commit a change."""
        changed = self.change()
        commit(self.writer, self.fs, changed)
        self.groups |= changed

    def replace(self) -> None:
        """Write the rows of file groups, or some of them, to a new one."""
        old = self.random.sample(sorted(self.groups), k=min(2, len(self.groups)))
        keys = set().union(*(self.groups.pop(at) for at in old))
        self.count += 1
        new = group(self.count, self.random.choice([A, B]))
        self.groups[new] = {key for key in keys if self.random.random() < 0.7}
        commit(self.writer, self.fs, {new: self.groups[new]}, "replacecommit", old)
        self.former.clear()  # a restore would drop the index

    def roll_back(self) -> None:
        """Apply a change, and roll it back."""
        instant = self.writer.begin()
        sizes = sizes_of(self.fs, self.change(), instant.time)
        self.writer.apply(instant, Change(sizes))
        self.writer.roll_back(instant, sizes)

    def clean(self) -> None:
        """Delete all files of older versions, and of replaced file groups."""
        with MetadataTable(self.fs, PATH) as table:
            listed = dict(table.list_all())
        deleted: dict[str, list[str]] = {}
        for partition, statuses in listed.items():
            names = sorted(status.path.rpartition("/")[2] for status in statuses)
            newest = {name.partition("_")[0]: name for name in sorted(names, key=_instant)}
            current = {newest[at[1]] for at in self.groups if at[0] == partition}
            deleted[partition] = [name for name in names if name not in current]
        self.writer.clean(deleted)
        self.former.clear()

    def restore(self) -> None:
        """Restore the dataset to an earlier action."""
        if self.former:
            instant, self.groups = self.random.choice(self.former)
            self.writer.restore(instant)
            self.former.clear()

    def bypass(self) -> None:
        """Commit without the table, which is synced afterwards."""
        other = MetadataWriter(self.fs, PATH, Ticks(10_000), design=1)
        changed = self.change()
        commit(other, self.fs, changed)
        self.groups |= changed
        other.sync()
        self.writer = MetadataWriter(self.fs, PATH, Ticks(20_000))

    def maintain(self) -> None:
        """Compact the table and delete its old files."""
        self.writer.compact()
        self.writer.clean_table()

    def build(self) -> None:
        """Build the index anew."""
        self.writer.create_partition(RECORD_INDEX)

    def play(self, steps: list[str]) -> None:
        """Run steps by name; after each, lookups, rows and the model agree."""
        for step in steps:
            self.former.append((latest(self.writer), dict(self.groups)))
            getattr(self, step)()
            expected = {key: at for at, keys in self.groups.items() for key in keys}
            assert in_index(self.fs) == expected, step
            assert in_rows(self.fs) == expected, step


def _instant(name: str) -> str:
    return name.rpartition("_")[2]


EVENTS = ["commit", "replace", "roll_back", "clean", "restore", "bypass", "maintain", "build"]
STEPS = st.lists(
    st.sampled_from(["commit", *EVENTS]),
    min_size=2,
    max_size=6,
)


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(st.integers(0, 1 << 20), STEPS)
def test_lookups_agree_with_a_model_in_any_history(seed: int, steps: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        History(seed).play(steps)


@pytest.mark.deep
@settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(st.integers(0, 1 << 20), STEPS)
def test_lookups_agree_with_a_model_in_many_histories(seed: int, steps: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        History(seed).play(steps)


# Killed writers ------------------------------------------------------------------------------

BEFORE_COMMIT = {group(1): "abc", group(2, B): "de"}


def moves(made: MetadataWriter) -> None:
    """Commit a change that deletes, inserts and moves keys."""
    commit(made, made._fs, {group(1): "ax", group(2, B): "bde"})


def replaces(made: MetadataWriter) -> None:
    """Replace a file group by another."""
    commit(made, made._fs, {group(3): "ab"}, "replacecommit", [group(1)])


LIFE: dict[str, Callable[[MetadataWriter], object]] = {
    "create": lambda made: made.create_partition(RECORD_INDEX, file_groups=2),
    "commit": moves,
    "replace": replaces,
    "build": lambda made: made.create_partition(RECORD_INDEX),
    "compact": lambda made: made.compact(),
    "restore": lambda made: made.restore(min(made.timelines()[0].instants.values(), key=_time)),
    "drop": lambda made: made.drop_partition(RECORD_INDEX),
}


def _time(instant: Instant) -> str:
    return instant.time


def dies(step: str, number: int, death: str) -> bool:
    """Return True if the writer dies at a write of a step; check the table, and the next writer."""
    fs = InstrumentedFileSystem(MemoryFileSystem())
    made = table_of(fs, BEFORE_COMMIT, None if step == "create" else 2)
    if step in ("build", "compact", "restore"):
        moves(made)
    fs.clear_log()
    fs.kill_at, fs.death = number, death
    died = True
    with suppress(Killed):
        LIFE[step](made)
        died = False
    fs.revive()
    if has_index(fs) and step != "restore":  # which deletes files before it is completed
        assert in_index(fs) == in_rows(fs)
    other = MetadataWriter(fs, PATH, Ticks(1000))
    commit(other, fs, {group(5): "z"})
    assert has_index(fs) or step in ("create", "drop")
    other.create_partition(RECORD_INDEX)
    other.compact()
    other.clean_table()
    assert in_index(fs) == in_rows(fs)
    assert not other.timelines()[1].pending
    return died


def has_index(fs: InstrumentedFileSystem) -> bool:
    """Return True if the table has an index of records."""
    with MetadataTable(fs, PATH) as table:
        return RECORD_INDEX in table.partitions


@pytest.mark.parametrize(
    ("step", "death"),
    [("create", DEATHS[0]), ("commit", DEATHS[0]), ("commit", DEATHS[1])]
    + [
        pytest.param(step, death, marks=pytest.mark.deep)
        for step in LIFE
        for death in DEATHS
        if step != "commit" and (step, death) != ("create", DEATHS[0])
    ],
)
def test_writer_that_dies_at_any_write_leaves_a_right_index(step: str, death: str) -> None:
    """The lookups of readers agree with the rows at once, and after the next writer's commit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert next(n for n in range(1, 60) if not dies(step, n, death)) > 2
