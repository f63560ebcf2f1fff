"""Tests of random histories with dying processes: hudi-rs sees the same after each step."""

from __future__ import annotations

from pathlib import Path

import pytest

from fscontract.contract.models.metadata_table import Acceptor
from fscontract.contract.pipeline_bindings import DATASET
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.binding import TableBinding
from tests.pipeline.hudi.support import name, names, seen_by_hudi, started
from tests.pipeline.hudi.test_campaign import History

PARTITIONS = ("city=a", "city=b", "city=c")


class HudiHarness(TableHarness):
    """Compares with hudi-rs whenever the expected state is known."""

    def __init__(self, root: Path) -> None:
        self.root = root
        super().__init__(TableBinding("local", lambda: LocalFileSystem(str(root), durable=False)))
        self.compared = 0

    def expect_dataset(self, when: str = "", settles: bool = True) -> None:
        """Assert that both see the expected dataset."""
        super().expect_dataset(when, settles)
        seen = names(self.listing())
        if seen:
            self.expect(seen_by_hudi(str(self.root), DATASET), seen, f"{when}: hudi-rs")
            self.compared += 1


class HudiHistory(History):
    """A history with file and partition names in Hudi's format, and an initial dataset."""

    def begin(self, root: Path) -> None:
        """Create the dataset."""
        self.design = 2
        self.harness = HudiHarness(root)
        content = {part: {name(n): 600 + n for n in range(2)} for part in PARTITIONS[:2]}
        for partition, files in content.items():
            for each, size in files.items():
                self.harness.put(partition, each, size)
        started(self.harness.fs.inner, DATASET, content)
        self.harness.model = Acceptor(content)
        self.count = 100
        self.writer = self.harness.writer(**self.settings)

    def new(self, time: str) -> dict[str, dict[str, int]]:
        """Return new files of an action with unique names."""
        added: dict[str, dict[str, int]] = {}
        for _ in range(self.random.randint(1, 3)):
            self.count += 1
            partition = self.random.choice(PARTITIONS)
            added.setdefault(partition, {})[name(self.count, time)] = self.count
        return added


def _play(root: Path, seed: int, steps: int) -> int:
    """Return the number of comparisons."""
    history = HudiHistory(TableBinding(), seed)
    history.begin(root)
    history.play(steps)
    assert isinstance(history.harness, HudiHarness)
    return history.harness.compared


def test_both_see_the_same_after_any_event(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A few histories, in which every fourth action dies at some write."""
    assert sum(_play(tmp_path_factory.mktemp("root"), seed, 6) for seed in range(4)) > 10


@pytest.mark.deep
def test_both_see_the_same_in_three_hundred_histories(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for seed in range(100, 400):
        _play(tmp_path_factory.mktemp("root"), seed, 12)
