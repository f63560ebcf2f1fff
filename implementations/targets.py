"""Named targets of the reference filesystems."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import ClassVar

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.program.content import SparseContent
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem

_STRATEGIES = ("portable", "positioned")
#: Nanoseconds that every file system's clock can resolve.
_TICK = 2_000_000_000


class ReferenceBinding(StreamBinding):
    """Binding to a reference filesystem, which has every feature."""

    default_profile: ClassVar[str] = "reference"


class LocalBinding(ReferenceBinding):
    """Binding to the local filesystem; changes files in place, as other programs do."""

    def __init__(self, filesystem: LocalFileSystem) -> None:
        super().__init__(filesystem, "local")
        self._directory = filesystem.root
        self.holds_sparse = True

    def create_sparse(self, content: SparseContent) -> str:
        """Write a sparse file below the root; raise TargetError on failure."""
        path = self.new_path()
        self.write_sparse(str(Path(self._directory, path.lstrip("/"))), content)
        return path

    def change(self, path: str, content: bytes | None) -> None:
        """Overwrite a file in place while streams have it open, or delete it."""
        path_on_disk = Path(self._directory, path.lstrip("/"))
        if content is None:
            path_on_disk.unlink(missing_ok=True)
        elif not path_on_disk.exists():
            super().change(path, content)
        else:
            before = path_on_disk.stat().st_mtime_ns
            with path_on_disk.open("r+b") as file:
                file.write(content)
                file.truncate()
            if path_on_disk.stat().st_mtime_ns <= before:  # the file system's clock is coarser
                os.utime(path_on_disk, ns=(before + _TICK, before + _TICK))


def memory(options: Mapping[str, str]) -> Binding:
    """Return a binding to the in-memory filesystem; raise TargetError for any option."""
    check_options("memory", options, ())
    return ReferenceBinding(MemoryFileSystem(), "memory")


def local(options: Mapping[str, str]) -> Binding:
    """Return a binding to the local filesystem, in a temporary directory.

    Option `strategy` is "portable" (seek and read) or "positioned" (pread); the default depends on
    the machine. Raise TargetError for other options and values.
    """
    root, strategy = tempfile.gettempdir(), local_strategy(options)
    return LocalBinding(LocalFileSystem(root, strategy, durable=False))


def local_strategy(options: Mapping[str, str]) -> str | None:
    """Return the option of the target `local`, or None; raise TargetError as `local` does."""
    check_options("local", options, ("strategy",))
    strategy = options.get("strategy")
    if strategy is not None and strategy not in _STRATEGIES:
        raise TargetError(
            f"local: invalid value for strategy: {strategy!r}; must be {' or '.join(_STRATEGIES)}"
        )
    return strategy


def check_options(name: str, options: Mapping[str, str], allowed: Collection[str]) -> None:
    """Raise TargetError for an option of the target `name` that is not in `allowed`."""
    unknown = sorted(options.keys() - set(allowed))
    if unknown:
        known = (
            f"allowed options: {', '.join(allowed)}" if allowed else "the target takes no options"
        )
        raise TargetError(f"{name}: unknown option {unknown[0]!r}; {known}")
