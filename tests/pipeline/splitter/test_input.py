"""Tests of the lifecycle of a splitter that finds its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import (
    MissingInput,
    ReferenceTimes,
    ScannedFileInfo,
    Scanner,
    TimeBasedDirectoryScanner,
)
from fscontract.pipeline.splitter.windows import FSWindowStore, NoopWindowStore
from tests.pipeline.splitter.support import Life, write


@pytest.fixture
def fs() -> MemoryFileSystem:
    """Two files of six blocks."""
    made = MemoryFileSystem()
    write(made, "/in/a"), write(made, "/in/b")
    return made


def test_windows_follow_each_other(fs: MemoryFileSystem) -> None:
    """Reusing a number is a bug of the caller."""
    with Life(fs) as life:
        life.window(3)
        for number in (3, 2):
            with pytest.raises(
                IllegalArgumentException, match="must be greater than the last window, 3"
            ):
                life.begin(number)


def test_a_splitter_works_after_it_was_started(fs: MemoryFileSystem) -> None:
    """And must be restored before."""
    splitter = FileSplitterInput(fs, "/in", windows=NoopWindowStore())
    with pytest.raises(RuntimeError, match="not been started"):
        splitter.begin_window(1)
    with (
        splitter,
        pytest.raises(RuntimeError, match="can't restore a splitter that has been started"),
    ):
        splitter.restore(splitter.checkpoint())


def test_end_window_requires_an_open_window(fs: MemoryFileSystem) -> None:
    """Otherwise its output would be stored without a number."""
    with Life(fs) as life, pytest.raises(RuntimeError, match="no window is open"):
        life.splitter.end_window()


def test_missing_input_is_reported_once(fs: MemoryFileSystem) -> None:
    """With its path."""
    with Life(fs, "/in,/none") as life:
        told: list[MissingInput] = []
        life.splitter.notices_output = told.append
        for number in range(1, 4):
            life.clock.advance(100)
            life.window(number)
        assert [str(one) for one in told] == ["input not found: '/none'"]


def test_windows_must_not_be_kept_where_files_are_found(fs: MemoryFileSystem) -> None:
    """The splitter would split its own windows."""
    for place in ("/in", "/in/w"):
        store = FSWindowStore(fs, place)
        with pytest.raises(IllegalArgumentException, match="would be found as input"):
            FileSplitterInput(fs, "/in", windows=store)
    FileSplitterInput(fs, "/in", windows=FSWindowStore(fs, "/inside"))
    FileSplitterInput(fs, "/in", windows=FSWindowStore(MemoryFileSystem(), "/in/w"))


def test_committed_window_can_not_be_repeated(fs: MemoryFileSystem) -> None:
    """No checkpoint needs committed windows."""
    with Life(fs, windows=FSWindowStore(fs, "/w"), blocks_threshold=4) as life:
        life.window(1), life.window(2)
        life.splitter.committed(2)
    again = Life(fs, windows=FSWindowStore(fs, "/w"))
    with again, pytest.raises(RuntimeError, match="can't repeat window 1"):
        again.begin(1)


def test_window_is_not_repeated_from_another_checkpoint(fs: MemoryFileSystem) -> None:
    """Its blocks would be those of other files."""
    with Life(fs, windows=FSWindowStore(fs, "/w"), blocks_threshold=4) as life:
        life.window(1)
        life.window(2)
        life.window(3)
    again = Life(fs, windows=FSWindowStore(fs, "/w"), blocks_threshold=4)
    with again, pytest.raises(RuntimeError, match="the checkpoint of another window"):
        again.begin(2)


def test_a_checkpoint_is_one_line_and_rejected_by_another_operator(fs: MemoryFileSystem) -> None:
    """Ids would collide."""
    with Life(fs) as life:
        life.window(1)
        text = life.splitter.checkpoint()
    assert "\n" not in text
    with pytest.raises(IllegalArgumentException, match="operator 0, expected 1"):
        Life(fs, checkpoint=text, operator_id=1)


@pytest.mark.parametrize(
    ("key", "value"), [("references", 3), ("window", "x"), ("pending", 1), ("sequence", None)]
)
def test_a_checkpoint_with_a_wrong_value_is_rejected(
    fs: MemoryFileSystem, key: str, value: object
) -> None:
    """Before anything is changed."""
    import json

    splitter = FileSplitterInput(fs, "/in", windows=NoopWindowStore())
    before = splitter.checkpoint()
    with pytest.raises(IllegalArgumentException):
        splitter.restore(json.dumps({**json.loads(before), key: value}))
    assert splitter.checkpoint() == before


def test_metrics_count_what_a_window_emitted(fs: MemoryFileSystem) -> None:
    """Files and blocks, also of repeated windows."""
    with Life(fs, windows=FSWindowStore(fs, "/w"), blocks_threshold=8) as life:
        life.window(1)
        assert (life.splitter.files_processed, life.splitter.block_count) == (2, 8)
    with Life(fs, windows=FSWindowStore(fs, "/w")) as life:
        life.window(1)
        assert (life.splitter.files_processed, life.splitter.block_count) == (2, 8)


class Manifest(Scanner):
    """Finds the files of a list, each version once."""

    def __init__(self, fs: MemoryFileSystem, paths: Sequence[str]) -> None:
        self.references = ReferenceTimes()
        self.paths = list(paths)
        self.running: list[str] = []
        self._fs = fs

    def start(self) -> None:
        """Record the call."""
        self.running.append("start")

    def stop(self) -> None:
        """Record the call."""
        self.running.append("stop")

    def take(self) -> ScannedFileInfo | None:
        """Return the next file that is new or modified."""
        for path in self.paths:
            info = ScannedFileInfo(None, path, path, self._fs.get_file_status(path))
            if self.references.add(info):
                return info
        return None


def _files(found: Sequence[Any]) -> list[str]:
    return [item.file_name for item in found if hasattr(item, "file_name")]


def test_files_come_from_the_given_scanner(fs: MemoryFileSystem) -> None:
    scanner = Manifest(fs, ["/in/b"])
    with Life(fs, (), scanner=scanner) as life:
        assert _files(life.window(1)) == ["b"]
        assert life.window(2) == []
        write(fs, "/in/b", 3)
        assert _files(life.window(3)) == ["b"]
    assert scanner.running == ["start", "start", "start", "start", "stop"]


def test_checkpoint_keeps_the_files_of_the_given_scanner(fs: MemoryFileSystem) -> None:
    paths = ["/in/a", "/in/b"]
    with Life(fs, (), scanner=Manifest(fs, paths), blocks_threshold=6) as life:
        assert _files(life.window(1)) == ["a"]
        text = life.splitter.checkpoint()
    with Life(fs, (), scanner=Manifest(fs, paths), checkpoint=text) as life:
        assert _files(life.window(2)) == ["b"]


def test_windows_of_a_given_scanner_are_repeated(fs: MemoryFileSystem) -> None:
    """The scanner then knows their files, and is not started before."""
    store = FSWindowStore(fs, "/w")
    with Life(fs, (), scanner=Manifest(fs, ["/in/a"]), windows=store) as life:
        before = life.window(1)
    scanner = Manifest(fs, ["/in/a", "/in/b"])
    with Life(fs, (), scanner=scanner, windows=FSWindowStore(fs, "/w")) as life:
        life.begin(1)
        assert scanner.running == []
        assert life.out == before
        life.splitter.end_window()
        assert _files(life.window(2)) == ["b"]


def test_a_given_directory_scanner_is_used_as_the_default_one(fs: MemoryFileSystem) -> None:
    scanner = TimeBasedDirectoryScanner(fs, "/in", file_pattern="a")
    with Life(fs, (), scanner=scanner) as life:
        assert _files(life.window(1)) == ["a"]
    with pytest.raises(IllegalArgumentException, match="would be found as input"):
        FileSplitterInput(fs, windows=FSWindowStore(fs, "/in/w"), scanner=scanner)


def test_default_block_size_with_a_given_scanner_is_that_of_the_status(
    fs: MemoryFileSystem,
) -> None:
    class Small(Manifest):
        def take(self) -> ScannedFileInfo | None:
            info = super().take()
            if info is None:
                return None
            return ScannedFileInfo(
                None, info.path, info.path, FileStatus("/in/a", 11, block_size=4)
            )

    with Life(fs, (), scanner=Small(fs, ["/in/a"]), block_size=None) as life:
        assert [b.end for b in life.window(1)[1:]] == [4, 8, 11]


@pytest.mark.parametrize(
    "settings",
    [{"files": "/in"}, {"recursive": False}, {"scan_interval": 1.0}, {"file_pattern": "a"}],
    ids=str,
)
def test_settings_of_scans_belong_to_the_given_scanner(
    fs: MemoryFileSystem, settings: dict[str, Any]
) -> None:
    (name,) = settings
    with pytest.raises(IllegalArgumentException, match=f"scanner and {name} are mutually exclus"):
        FileSplitterInput(fs, windows=NoopWindowStore(), scanner=Manifest(fs, []), **settings)


def test_an_object_that_is_not_a_scanner_is_rejected(fs: MemoryFileSystem) -> None:
    """Here a class instead of its instance, and an object that only iterates."""
    wrongs: list[Any] = [Manifest, iter([])]
    for wrong in wrongs:
        with pytest.raises(IllegalArgumentException, match=r"invalid scanner: .*Scanner$"):
            FileSplitterInput(fs, windows=NoopWindowStore(), scanner=wrong)
