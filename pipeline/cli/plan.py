"""Plans of the blocks of a command's inputs, and their reading in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.implementations.spark.locations import FileLocation
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.compression import codec_of
from fscontract.pipeline.blockreader.contexts import (
    DEFAULT_SLICE,
    FileReaderContext,
    FixedBytesReaderContext,
)
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import Counters, FSBlockReader, as_bytes
from fscontract.pipeline.blocks import FileBlockMetadata, FileInfo, FileMetadata
from fscontract.pipeline.cli.options import Input, by_location
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import TimeBasedDirectoryScanner
from fscontract.pipeline.splitter.windows import NoopWindowStore

Item: TypeAlias = FileMetadata | FileBlockMetadata
#: Number of blocks planned ahead of their use.
_AHEAD = 1000
#: Seconds before a second scan, long enough that there is none.
_FOREVER = 1e9


@dataclass(frozen=True)
class SplitSettings:
    """The files of a command, and how they are split."""

    block_size: int | None = None
    recursive: bool = True
    pattern: str | None = None
    ignore: str | None = None
    data_offset: int = 0
    #: Returns True if the file at this path is one block, whatever its length.
    is_whole: Callable[[str], bool] = lambda path: False


class LocationPlan(NamedTuple):
    """Plan of one filesystem: files in the order of the scan, each followed by its blocks."""

    location: FileLocation
    filesystem: FileSystem
    items: Iterator[Item]


@dataclass
class BlockPlan:
    """Plan of some inputs. Its counters include only items taken from it so far."""

    inputs: Sequence[Input]
    choice: SplitSettings
    files: int = 0
    blocks: int = 0
    #: Bytes of the found files, from the data offset on.
    bytes: int = 0
    #: Lists inputs elsewhere than in this process, and returns a filesystem with the listings.
    lister: Callable[[FileSystem, Sequence[str]], FileSystem] | None = None
    #: Completed scans of the inputs.
    scans: int = 0
    #: Counters of the readers.
    reader: Counters = field(default_factory=Counters)
    #: Messages about missing inputs.
    missing: list[str] = field(default_factory=list)

    def parts(self) -> Iterator[LocationPlan]:
        """Yield the plans of locations; consume each before the next one."""
        for number, (location, group) in enumerate(by_location(self.inputs)):
            filesystem = location.make()
            close = getattr(filesystem, "close", None)
            with closing(filesystem) if close is not None else nullcontext():  # type: ignore[type-var]
                yield LocationPlan(location, filesystem, self._items(filesystem, group, number))

    def metrics(self, with_reader: bool = False) -> str:
        """Return the counters of the splitter, and of the readers, as a line of JSON."""
        splitter = {
            "scans": self.scans,
            "files": self.files,
            "blocks": self.blocks,
            "bytes": self.bytes,
            "missing": len(self.missing),
        }
        reader = {"reader": asdict(self.reader)} if with_reader else {}
        return json.dumps({"splitter": splitter, **reader})

    def as_typed(self, path: str) -> str:
        """Return a path as the user would write it."""
        return next(
            (s for file_input in self.inputs if (s := file_input.as_typed(path)) != path), path
        )

    def _items(self, fs: FileSystem, group: Sequence[Input], number: int) -> Iterator[Item]:
        choice = self.choice
        items: list[Item] = []
        paths = [file_input.path for file_input in group]
        splitter = _Splitter(
            fs if self.lister is None or not choice.recursive else self.lister(fs, paths),
            paths,
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
        splitter.files_metadata_output = splitter.blocks_metadata_output = items.append
        splitter.notices_output = lambda missing: self.missing.append(
            f"no such file or directory: {self.as_typed(missing.path)!r}"
        )
        with splitter:
            for window in count(1):
                splitter.begin_window(window)
                splitter.scanner.settle()  # after this, no file found means that there are no more
                splitter.emit_tuples()
                splitter.end_window()
                if not items:
                    self.scans += splitter.scanner.scans
                    return
                for item in items:
                    self._count(item)
                    yield item
                items.clear()

    def _count(self, item: Item) -> None:
        if isinstance(item, FileBlockMetadata):
            self.blocks += 1
        elif not item.is_directory:
            self.files += 1
            self.bytes += max(0, item.file_length - item.data_offset)


class _Splitter(FileSplitterInput):
    """Splitter with the settings of the command."""

    scanner: TimeBasedDirectoryScanner
    choice = SplitSettings()

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        return self.choice.data_offset

    def get_block_size(self, info: FileInfo, status: FileStatus) -> int:
        if self.choice.is_whole(info.path):
            return max(1, status.length)
        return super().get_block_size(info, status)


class BlockRecords(NamedTuple):
    """Some records of a block: their number and, if wanted, the records.

    `bytes` is the number of bytes read in the block; they add up to its size.
    """

    block: FileBlockMetadata
    records: int
    bytes: int
    batch: RecordBatch | None = None


@dataclass(frozen=True)
class ReadSettings:
    """Options of reading blocks; sent to tasks."""

    reader: str = "lines"
    delimiter: bytes | None = None
    length: int | None = None
    max_length: int | None = None
    too_long: str = "error"
    compression: str = "infer"
    data_offset: int = 0

    def check(self) -> None:
        """Raise IllegalArgumentException for invalid combinations of options."""
        if self._fixed:
            for name in ("delimiter", "max_length"):
                if getattr(self, name) is not None:
                    option = name.replace("_", "-")
                    raise IllegalArgumentException(
                        f"--{option} is not supported for records of fixed length"
                    )
        elif self.length is not None:
            raise IllegalArgumentException(f"--length is not supported for --reader {self.reader}")
        self.context()

    @property
    def ending(self) -> bytes:
        """Terminator of printed records."""
        return b"" if self._fixed else self.delimiter or b"\n"

    def is_whole(self, path: str) -> bool:
        """Return True if the file must be one block, because it is compressed.

        Raise IllegalArgumentException for the suffix of an unsupported codec.
        """
        try:
            return codec_of(path, self._codec) is not None
        except IllegalArgumentException as error:
            message = str(error).replace("compression=None", "--compression none")
            raise IllegalArgumentException(message) from None

    def open(self, filesystem: FileSystem) -> FSBlockReader[bytes]:
        """Return a new reader."""
        return FSBlockReader(filesystem, self.context(), as_bytes)

    def context(self) -> FileReaderContext:
        """Return a new context."""
        if self._fixed:
            return FixedBytesReaderContext(
                self.length or DEFAULT_SLICE,
                aligned=self.reader == "records",
                data_offset=self.data_offset,
                compression=self._codec,
            )
        cut = self.reader == "lines-with-partial"
        options: dict[str, Any] = {"on_too_long": self.too_long, "compression": self._codec}
        return (LineReaderContext if cut else ReadAheadLineReaderContext)(
            self.delimiter,
            max_record_length=self.max_length,
            data_offset=self.data_offset,
            **options,
        )

    @property
    def _codec(self) -> str | None:
        return None if self.compression == "none" else self.compression

    @property
    def _fixed(self) -> bool:
        return self.reader == "slices" or (self.reader == "records" and self.length is not None)


def read_plan(plan: BlockPlan, reading: ReadSettings) -> Generator[BlockRecords, None, None]:
    """Yield the records of a plan in order, read by this process."""
    for part in plan.parts():
        with reading.open(part.filesystem) as reader:
            reader.counters = plan.reader
            for block in part.items:
                if isinstance(block, FileBlockMetadata):
                    yield from read_block(reader, block)


def read_block(reader: FSBlockReader[bytes], block: FileBlockMetadata) -> Iterator[BlockRecords]:
    """Yield the records of one block; raise BlockReadException."""
    unread = block.size
    for batch in reader.process_batches(block):
        used = min(unread, batch.used_bytes)  # a record may extend past the block
        unread -= used
        yield BlockRecords(block, len(batch), used, batch)
    yield BlockRecords(block, 0, unread)
