"""The windows of a stream: each is a micro-batch, written down before Spark hears of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from fscontract.contract.errors import FileNotFoundException
from fscontract.contract.ports import FileSystem
from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata, join_path
from fscontract.pipeline.datasource.errors import SourceException
from fscontract.pipeline.datasource.files import AsConfigured, scanner_options
from fscontract.pipeline.datasource.partition import BlockRun
from fscontract.pipeline.datasource.request import Request
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.iterator import BlockMetadataIterator
from fscontract.pipeline.splitter.windows import WindowStore

#: More blocks than any window has.
UNLIMITED = 1 << 62


@dataclass(frozen=True)
class Limits:
    """What a window takes at most: files it begins, blocks, and bytes unless one block has more."""

    files: int = UNLIMITED
    blocks: int = UNLIMITED
    bytes: int = UNLIMITED

    @classmethod
    def of(cls, request: Request) -> Limits:
        """Those of the options."""
        values = request.values
        names = ("maxFilesPerTrigger", "blocksThreshold", "maxBytesPerTrigger")
        return cls(*(values[name] or UNLIMITED for name in names))


class StreamSplitter(AsConfigured, FileSplitterInput):
    """Splits what the scanner finds; `runs` has the blocks of the present window.

    A window that has no block yet goes on until there is one.
    """

    def __init__(self, fs: FileSystem, request: Request, windows: WindowStore) -> None:
        self.request = request
        super().__init__(
            fs,
            request.paths,
            windows=windows,
            block_size=request.values["blockSize"],
            scan_interval=request.values["scanInterval"],
            **scanner_options(request.values),
        )
        self.limits = Limits()
        self.runs: list[BlockRun] = []
        self.files_begun = 0
        self.bytes_planned = 0
        #: Whether the window takes nothing more.
        self.full = False

    def begin_window(self, window_id: int) -> None:
        """Begin a window, with nothing in it."""
        self.runs, self.files_begun, self.bytes_planned, self.full = [], 0, 0, False
        super().begin_window(window_id)

    def process(self) -> None:
        """Emit pending blocks, then files and their blocks, up to the limits."""
        self.blocks_threshold = self.limits.blocks
        done = self.emit_block_metadata()
        while done and self._takes_more():
            info = self.get_file_info()
            if info is None:
                return
            done = self.process_file_info(info)
        self.full = True

    def emit_file_metadata(self, file: FileMetadata) -> None:
        """Emit the metadata of a file, which counts if there is something to read."""
        self.files_begun += file.number_of_blocks > 0
        super().emit_file_metadata(file)

    def emit_block_metadata(self) -> bool:
        """Emit pending blocks up to the limits; whether all of them went out."""
        return self._emit_blocks(min(self.limits.blocks, self.block_count + self._affordable()))

    def emit_block(self, block: FileBlockMetadata) -> None:
        """Emit a block: a further one of the present run, or the first one of the next."""
        super().emit_block(block)
        self.bytes_planned += block.size
        pending = self._pending
        assert pending is not None
        last = self.runs[-1] if self.runs else None
        if last is not None and last.file is pending.file and last.stop == pending.emitted - 1:
            self.runs[-1] = BlockRun(last.file, last.first, pending.emitted)
        else:
            self.runs.append(BlockRun(pending.file, pending.emitted - 1, pending.emitted))

    def blocks_waiting(self) -> int:
        """How many blocks were found that are in no window yet."""
        pending = self._pending
        left = 0 if pending is None else pending.file.number_of_blocks - pending.emitted
        infos = [info for info in self.scanner.waiting() if not info.status.is_directory]
        sizes = [(info.status.length, self.get_block_size(info, info.status)) for info in infos]
        return left + sum(-(-length // size) for length, size in sizes)

    def _takes_more(self) -> bool:
        limits = self.limits
        return (
            self.block_count < limits.blocks
            and self.files_begun < limits.files
            and self.bytes_planned < limits.bytes
        )

    def _affordable(self) -> int:
        """How many of the pending blocks the limit of bytes allows; the first one of a window."""
        if self._pending is None:
            return 0
        left = self.limits.bytes - self.bytes_planned
        ahead = _blocks_within(self._pending, left)
        return ahead if ahead or self.block_count else 1


def _blocks_within(blocks: BlockMetadataIterator, size: int) -> int:
    """How many of the next blocks have at most so many bytes together."""
    file, number = blocks.file, blocks.emitted
    rest = BlockRun(file, number, file.number_of_blocks)
    if rest.size <= size:
        return len(rest)
    grid = file.data_offset // file.block_size
    return max(0, (rest.start + size) // file.block_size - grid - number)


class Identity:
    """Which stream a directory of windows belongs to: a random name, kept in it."""

    def __init__(self, fs: FileSystem, directory: str) -> None:
        self._fs = fs
        self._path = join_path(directory, "stream")

    def name(self) -> str:
        """The name; the first one who asks makes it."""
        try:
            return read_text(self._fs, self._path).strip()
        except FileNotFoundException:
            made = secrets.token_hex(8)
        with self._fs.create(self._path, overwrite=False) as file:
            file.write(made.encode())
        return made

    def check(self, offset: dict[str, Any]) -> int:
        """The window of an offset; SourceException if it is another stream's."""
        if offset.get("stream") != self.name():
            raise SourceException(
                f"the checkpoint of Spark does not belong to the windows in {self._path!r}:"
                " each stream has a directory of its own, for as long as its checkpoint"
            )
        return int(offset["window"])


def read_text(fs: FileSystem, path: str) -> str:
    """The text of a small file; FileNotFoundException."""
    with fs.open(path) as stream, stream.as_file() as file:
        return (file.read() or b"").decode()
