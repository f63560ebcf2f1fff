"""Simulated power loss of a disk, based on the system calls made."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Entries = dict[str, int]


class Disk:
    """Tracks which part of the tree below `root` would survive; calls `at_each` after each change.

    A file has the bytes of its last fsync. A directory has the names of its last fsync, or, with
    `eager`, the current ones: a journal may be ahead of the data. A file that was never synced has
    a name without content.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, eager: bool = False) -> None:
        self.root = root
        self.eager = eager
        self.calls: list[str] = []
        self.at_each: Callable[[], None] = lambda: None
        self._bytes: dict[int, bytes] = {}
        self._names: dict[int, Entries] = {}
        self._held: list[int] = []  # so that no inode number is reused
        self._real = {name: getattr(os, name) for name in ("fsync", "link", "replace", "unlink")}
        for path in (root, *root.rglob("*")):
            self._note(path)
        for name in self._real:
            monkeypatch.setattr(os, name, self._watched(name))

    def survivors(self, to: Path) -> Path:
        """Create the tree that would exist after a crash in a new directory."""
        self._copy(self.root.stat().st_ino, self.root, to)
        return to

    def _watched(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            found = self._real[name](*args, **kwargs)
            if name == "fsync":
                self._note(Path(os.readlink(f"/proc/self/fd/{args[0]}")))
                self._held.append(os.dup(args[0]))
                kind = "directory" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else "file"
                self.calls.append(f"fsync {kind}")
            else:
                self.calls.append(name)
            self.at_each()
            return found

        return call

    def _note(self, path: Path) -> None:
        number = path.stat().st_ino
        if path.is_dir():
            self._names[number] = {each.name: each.stat().st_ino for each in path.iterdir()}
        else:
            self._bytes[number] = path.read_bytes()

    def _copy(self, number: int, now: Path | None, to: Path) -> None:
        to.mkdir()
        entries = self._names.get(number, {})
        if self.eager and now is not None:
            entries = {each.name: each.stat().st_ino for each in now.iterdir()}
        for name, inner in entries.items():
            below = None if now is None else now / name
            if inner in self._names or (below is not None and below.is_dir()):
                self._copy(
                    inner, below if below is not None and below.is_dir() else None, to / name
                )
            else:
                (to / name).write_bytes(self._bytes.get(inner, b""))

    def close(self) -> None:
        """Close the held descriptors."""
        for descriptor in self._held:
            os.close(descriptor)
