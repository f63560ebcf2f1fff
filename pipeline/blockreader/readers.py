"""Readers of files: lines, slices, and records of one's own."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from fscontract.contract.errors import IllegalArgumentException
from fscontract.contract.openfile_options import READ_POLICY, SPLIT_END, SPLIT_START
from fscontract.contract.ports import FileStatus, FileSystem, FSDataInputStream
from fscontract.implementations.jobs import await_future
from fscontract.pipeline.blockreader.compressed import codec_of
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext, ReaderContext
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.reader import AbstractBlockReader, R, ReaderRecord
from fscontract.pipeline.blocks import (
    FileBlockMetadata,
    FileMetadata,
    last_element,
    milliseconds,
)
from fscontract.pipeline.splitter.iterator import BlockMetadataIterator, count_blocks


class FSBlockReader(AbstractBlockReader[R]):
    """Reads blocks of files of `fs`; `converter` makes a record of bytes, or None to drop them.

    Further options are those of AbstractBlockReader.
    """

    def __init__(
        self,
        fs: FileSystem,
        context: ReaderContext,
        converter: Callable[[bytes], R | None],
        **options: Any,
    ) -> None:
        super().__init__(context, **options)
        self.fs = fs
        self._converter = converter

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        """Open the file as what it was when it was split, to be read from the block's start on."""
        builder = self.fs.open_file(block.path).with_file_status(block.status())
        builder.opt(READ_POLICY, "sequential")
        builder.opt_long(SPLIT_START, block.offset).opt_long(SPLIT_END, block.end)
        return await_future(builder.build())

    def convert_to_record(self, data: bytes) -> R | None:
        """What the converter makes of it."""
        return self._converter(data)


def text(encoding: str = "utf-8", errors: str = "strict") -> Callable[[bytes], str]:
    """A converter to `str`; bytes that are not text are an error unless `errors` says otherwise.

    "surrogateescape" keeps them, so that `encode` with it gives the same bytes again.
    LookupError for an unknown encoding or way with errors.
    """
    b"\xff".decode(encoding, "replace")
    codecs.lookup_error(errors)
    return lambda data: data.decode(encoding, errors)


def as_bytes(data: bytes) -> bytes:
    """The converter that leaves records as they are."""
    return data


class FSLineReader(FSBlockReader[R]):
    """Reads lines by a LineReaderContext: the converter has to return None for rests of lines."""

    def __init__(
        self,
        fs: FileSystem,
        converter: Callable[[bytes], R | None],
        context: LineReaderContext | None = None,
        **options: Any,
    ) -> None:
        super().__init__(fs, context or LineReaderContext(), converter, **options)


class FSReadAheadLineReader(FSBlockReader[R]):
    """Reads lines by a ReadAheadLineReaderContext, each from exactly one block."""

    def __init__(
        self,
        fs: FileSystem,
        converter: Callable[[bytes], R | None],
        context: ReadAheadLineReaderContext | None = None,
        **options: Any,
    ) -> None:
        super().__init__(fs, context or ReadAheadLineReaderContext(), converter, **options)


class FSSliceReader(FSBlockReader[bytes]):
    """Reads pieces of `length` bytes; unless it is given, that is the block size of the files.

    That is what the filesystem says of the first file that is read.
    """

    def __init__(self, fs: FileSystem, length: int | None = None, **options: Any) -> None:
        context = FixedBytesReaderContext() if length is None else FixedBytesReaderContext(length)
        super().__init__(fs, context, as_bytes, **options)
        self._slices = context
        self._unknown = length is None

    def setup_stream(self, block: FileBlockMetadata) -> FSDataInputStream:
        """As any reader of files, once the length of a piece is known."""
        if self._unknown:
            self._slices.length = max(1, self.fs.get_file_status(block.path).block_size)
            self._unknown = False
        return super().setup_stream(block)


class FSRecordReader(FSBlockReader[R]):
    """Reads records of one's own: "delimited" or, of `record_length` bytes each, "fixed-width".

    Records are whole, each from one block, wherever blocks end. IllegalArgumentException for
    another mode, or for a fixed width without a length. `context_options` are those of
    ReadAheadLineReaderContext or FixedBytesReaderContext.
    """

    def __init__(
        self,
        fs: FileSystem,
        converter: Callable[[bytes], R | None],
        mode: Literal["delimited", "fixed-width"] = "delimited",
        *,
        record_length: int | None = None,
        context_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        context = _record_context(mode, record_length, context_options or {})
        super().__init__(fs, context, converter, **options)


def _record_context(
    mode: str, record_length: int | None, options: Mapping[str, Any]
) -> ReaderContext:
    if mode == "delimited":
        if record_length is not None:
            raise IllegalArgumentException("a record_length is for records of fixed width")
        return ReadAheadLineReaderContext(**options)
    if mode != "fixed-width":
        raise IllegalArgumentException(f"a mode is delimited or fixed-width, not {mode!r:.40}")
    if record_length is None:
        raise IllegalArgumentException("records of fixed width need a record_length")
    return FixedBytesReaderContext(record_length, aligned=True, **options)


def records_of(
    fs: FileSystem,
    path: str,
    block_size: int,
    context: ReaderContext | None = None,
    **options: Any,
) -> Iterator[ReaderRecord[bytes]]:
    """The records of a file that is read in blocks of `block_size` bytes, in order.

    `context` is a ReadAheadLineReaderContext with these options, unless one is given.
    """
    context = context or ReadAheadLineReaderContext(**options)
    status = fs.get_file_status(path)
    whole = codec_of(path, context.compression) is not None
    size = max(1, status.length) if whole else block_size
    with FSBlockReader(fs, context, as_bytes) as reader:
        for block in blocks_of(status, size, options.get("data_offset", 0)):
            yield from reader.process_block(block)


def blocks_of(
    status: FileStatus, block_size: int, data_offset: int = 0
) -> Iterator[FileBlockMetadata]:
    """The blocks of one file, with ids from 1 on, as a splitter makes them."""
    if block_size < 1:
        raise IllegalArgumentException(f"a block has at least 1 byte, not {block_size}")
    count = count_blocks(status.length, block_size, data_offset)
    name = last_element(status.path)
    file = FileMetadata(
        file_path=status.path,
        file_name=name,
        file_length=status.length,
        is_directory=False,
        number_of_blocks=count,
        block_size=block_size,
        data_offset=data_offset,
        discover_time=0,
        relative_path=name,
        first_block_id=1,
        etag=status.etag,
        modification_time=milliseconds(status.modification_time),
    )
    return BlockMetadataIterator(file)
