"""Mutants that a splitter shows with large files, many blocks or many files only."""

from __future__ import annotations

import math
from dataclasses import replace

from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.splitter.blocks import _Changed, _Emitted, _unchecked
from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata
from fscontract.pipeline.splitter.input import FileSplitterInput

_BITS_32 = (1 << 32) - 1


@mutant("split.cover", _Changed.changed)
def offset_in_32_bits(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """Offsets of 4 GiB and more wrap around."""
    return _unchecked(block, offset=block.offset & _BITS_32)


@mutant("split.block-size", _Changed.changed)
def end_in_31_bits(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """The end of a block is at most 2 GiB."""
    return _unchecked(block, length=min(block.length, (1 << 31) - 1))


@mutant("split.block-count", _Emitted.emitted)
def counts_by_float(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The number of blocks is a rounded quotient of floats."""
    if file.is_directory or file.number_of_blocks < 2:
        return file
    count = math.ceil((file.file_length - file.data_offset) / file.block_size + 1e-9)
    exact = -(-(file.file_length - file.data_offset) // file.block_size)
    return replace(file, number_of_blocks=file.number_of_blocks + count - exact)


@mutant("split.file-metadata", _Emitted.emitted)
def length_in_32_bits(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The length of a file of 4 GiB or more wraps around in what is emitted."""
    return replace(file, file_length=file.file_length & _BITS_32)


@mutant("split.ids-unique", FileSplitterInput._take_ids)
def ids_in_a_byte(self: FileSplitterInput, count: int) -> int:
    """The sequence of ids wraps around after 256 blocks."""
    first = right(self)._take_ids(count)
    return first - (first & 0xFFFFFFFF) + (first & 0xFF)
