"""The files that inputs name now, and their blocks, found and made one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, TypeAlias

from fscontract.contract.ports import FileStatus, FileSystem
from fscontract.implementations.spark.places import Place
from fscontract.pipeline.blocks import FileBlockMetadata, FileInfo, FileMetadata
from fscontract.pipeline.commands.inputs import Input, by_place
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.windows import NoopWindowStore

Item: TypeAlias = FileMetadata | FileBlockMetadata
#: How many blocks are made before the first of them is used.
_AHEAD = 1000
#: Seconds that no second scan begins in.
_FOREVER = 1e9


@dataclass(frozen=True)
class Choice:
    """Which files there are to be, and how they are split."""

    block_size: int | None = None
    recursive: bool = True
    pattern: str | None = None
    ignore: str | None = None
    data_offset: int = 0
    #: Whether a file of this path is one block, whatever its length.
    whole: Callable[[str], bool] = lambda path: False


class Part(NamedTuple):
    """What lies in one place: files as they are found, and behind each its blocks."""

    place: Place
    filesystem: FileSystem
    items: Iterator[Item]


@dataclass
class Plan:
    """The plan of some inputs. What it counts is of what was taken from it so far."""

    inputs: Sequence[Input]
    choice: Choice
    files: int = 0
    blocks: int = 0
    #: Of the files that were found, from the data offset on.
    bytes: int = 0
    #: What is to be said of inputs that are not there.
    missing: list[str] = field(default_factory=list)

    def parts(self) -> Iterator[Part]:
        """One part after the other; each is to be used up before the next one."""
        for number, (place, group) in enumerate(by_place(self.inputs)):
            filesystem = place.make()
            close = getattr(filesystem, "close", None)
            with closing(filesystem) if close is not None else nullcontext():  # type: ignore[type-var]
                yield Part(place, filesystem, self._items(filesystem, group, number))

    def shown(self, path: str) -> str:
        """A path as the user would write it."""
        return next((s for one in self.inputs if (s := one.shown(path)) != path), path)

    def _items(self, fs: FileSystem, group: Sequence[Input], number: int) -> Iterator[Item]:
        choice = self.choice
        found: list[Item] = []
        splitter = _Splitter(
            fs,
            [one.path for one in group],
            windows=NoopWindowStore(),
            recursive=choice.recursive,
            scan_interval=_FOREVER,
            file_pattern=choice.pattern,
            ignore_pattern=choice.ignore,
            block_size=choice.block_size,
            blocks_threshold=_AHEAD,
            operator_id=number,
        )
        splitter.choice = choice
        splitter.files_metadata_output = splitter.blocks_metadata_output = found.append
        splitter.notices_output = lambda missing: self.missing.append(
            f"no such file or directory: {self.shown(missing.path)!r}"
        )
        with splitter:
            for window in count(1):
                splitter.begin_window(window)
                splitter.scanner.settle()  # so that nothing found means that there is no more
                splitter.emit_tuples()
                splitter.end_window()
                if not found:
                    return
                for item in found:
                    self._count(item)
                    yield item
                found.clear()

    def _count(self, item: Item) -> None:
        if isinstance(item, FileBlockMetadata):
            self.blocks += 1
        elif not item.is_directory:
            self.files += 1
            self.bytes += max(0, item.file_length - item.data_offset)


class _Splitter(FileSplitterInput):
    """Splits as a choice has it."""

    choice = Choice()

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        return self.choice.data_offset

    def get_block_size(self, info: FileInfo, status: FileStatus) -> int:
        if self.choice.whole(info.path):
            return max(1, status.length)
        return super().get_block_size(info, status)
