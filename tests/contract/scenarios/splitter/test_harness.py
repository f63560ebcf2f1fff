"""Tests of the harness of splitters."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.scenarios.splitter.harness import INPUT, SplitterHarness
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.splitter.binding import LocalSplitterBinding


class WholeSeconds(MemoryFileSystem):
    """Shows whole seconds in the next `count` statuses."""

    count = 0

    def get_file_status(self, path: str) -> FileStatus:
        self.count -= 1
        status = super().get_file_status(path)
        return replace(status, modification_time=7.0 if self.count >= 0 else 7.123)


def _writes(count: int) -> list[str]:
    filesystem = WholeSeconds()
    harness = SplitterHarness(LocalSplitterBinding("splitter", lambda: filesystem))
    harness.fs.clear_log()
    filesystem.count = count
    harness.write("f")
    return harness.fs.writes


def test_file_of_a_whole_second_is_written_again() -> None:
    """Its time would not show that a splitter drops milliseconds."""
    assert _writes(0) == [f"{INPUT}/f"]
    assert _writes(1) == [f"{INPUT}/f"] * 2


def test_filesystem_with_whole_seconds_is_accepted() -> None:
    assert set(_writes(1000)) == {f"{INPUT}/f"}
