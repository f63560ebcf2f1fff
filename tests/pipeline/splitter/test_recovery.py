"""Tests that windows are repeated unchanged, wherever a splitter fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata
from fscontract.pipeline.splitter.windows import FSWindowStore, WindowData, read_file
from tests.pipeline.splitter.support import Life, write

NAMES = ("a", "b", "c/d", "c/e")


class _Failure(Exception):
    """The process ends."""


class _FailingStore(FSWindowStore):
    """Fails while writing a window, after `share` percent of it."""

    share: int | None = None

    def save(self, data: WindowData) -> None:
        super().save(data)
        if self.share is None:
            return
        path = self._path(data.window_id)
        content = read_file(self.filesystem, path)
        with self.filesystem.create(path) as file:
            file.write(content[: len(content) * self.share // 100])
        raise _Failure


@dataclass
class _World:
    """Files, a sequence of splitters, and the caller's knowledge of windows."""

    threshold: int
    fs: MemoryFileSystem = field(default_factory=MemoryFileSystem)
    #: Latest output of each window, and the windows that were completed.
    seen: dict[int, list[Any]] = field(default_factory=dict)
    complete: dict[int, list[Any]] = field(default_factory=dict)
    window: int = 0
    checkpoint: tuple[int, str | None] = (0, None)
    life: Life | None = None

    def begin_life(self) -> Life:
        """Start a new process from the last checkpoint."""
        if self.life is not None:
            self.life.splitter.close()
        self.store = _FailingStore(self.fs, "/windows")
        self.window, text = self.checkpoint
        self.life = Life(
            self.fs,
            windows=self.store,
            blocks_threshold=self.threshold,
            checkpoint=text,
        )
        return self.life

    def next_window(self, fails: str | None, share: int) -> None:
        """Run the next window, in which the process may fail and restart."""
        life = self.life or self.begin_life()
        number = self.window + 1
        life.clock.advance(100)
        self.store.share = share if fails == "writing" else None
        try:
            life.begin(number)
            if fails == "begun":
                raise _Failure
            life.emit()
            if fails == "emitted":
                raise _Failure
            life.splitter.end_window()
        except _Failure:
            if self.store.share == 100:  # it was complete
                self._completed(number, life.out)
            self.begin_life()
            return
        self._completed(number, life.out)
        self.window = number
        if fails == "ended":
            self.begin_life()

    def _completed(self, number: int, out: Sequence[Any]) -> None:
        if number in self.complete:
            assert list(out) == self.complete[number]
        self.complete[number] = list(out)

    def save_checkpoint(self) -> None:
        """Save between windows; earlier windows are not needed any more."""
        life = self.life or self.begin_life()
        self.checkpoint = (self.window, life.splitter.checkpoint())
        life.splitter.committed(self.window)

    def drain(self) -> None:
        """Run windows until everything has been emitted."""
        repeated = max(self.complete, default=0)
        for _ in range(200):
            self.next_window(None, 0)
            if not self.complete[self.window] and self.window > repeated:
                return
        raise AssertionError("it never ends")


ACTIONS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.integers(0, 12)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just(0)),
    st.tuples(
        st.just("window"),
        st.sampled_from([None, None, "begun", "emitted", "writing", "ended"]),
        st.integers(0, 100),
    ),
    st.tuples(st.just("checkpoint"), st.none(), st.just(0)),
)


@settings(max_examples=100)
@given(st.lists(ACTIONS, max_size=25), st.integers(1, 7))
def test_completed_windows_are_repeated_unchanged_after_any_failure(
    actions: list[tuple[str, Any, int]], threshold: int
) -> None:
    """Finally each existing or emitted version is covered by its blocks once."""
    world = _World(threshold)
    for name in NAMES[:3]:
        write(world.fs, f"/in/{name}", 4)
    for kind, what, number in actions:
        if kind == "write":
            write(world.fs, f"/in/{what}", number)
        elif kind == "delete":
            world.fs.delete(f"/in/{what}")
        elif kind == "window":
            world.next_window(what, number)
        else:
            world.save_checkpoint()
    world.drain()
    assert world.life is not None
    world.life.splitter.close()
    records = [record for number in sorted(world.complete) for record in world.complete[number]]
    _covered(records)
    emitted = {(r.path, r.etag) for r in records if isinstance(r, FileMetadata)}
    assert _present(world.fs, "/in") <= emitted


def _present(fs: MemoryFileSystem, directory: str) -> set[tuple[str, str | None]]:
    """Return the versions of the existing files."""
    found = set()
    for status in fs.list_status(directory):
        if status.is_directory:
            found |= _present(fs, status.path)
        else:
            found.add((status.path, status.etag))
    return found


def _covered(records: list[Any]) -> None:
    """Assert that every emitted file occurs once, with all its blocks."""
    files = [r for r in records if isinstance(r, FileMetadata) and not r.is_directory]
    versions = [(file.path, file.etag) for file in files]
    assert len(set(versions)) == len(versions)
    blocks = [r for r in records if isinstance(r, FileBlockMetadata)]
    assert len({block.block_id for block in blocks}) == len(blocks)
    assert len(blocks) == sum(file.number_of_blocks for file in files)
    for file in files:
        own = [b for b in blocks if (b.path, b.etag) == (file.path, file.etag)]
        assert [b.block_id for b in own] == list(file.block_ids)
        assert sum(b.size for b in own) == file.file_length
