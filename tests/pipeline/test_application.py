"""The application of both documents: split files, read and filter lines, write a file per block."""

from __future__ import annotations

from collections import defaultdict

from fscontract import MemoryFileSystem
from fscontract.blockreader import FSReadAheadLineReader, text
from fscontract.splitter import FileBlockMetadata, FileSplitterInput, NoopWindowStore

FILES = {"/in/a": b"one\n.hidden\ntwo\n", "/in/b": b"three\n.dot\n"}


def _blocks(fs: MemoryFileSystem) -> list[FileBlockMetadata]:
    blocks: list[FileBlockMetadata] = []
    with FileSplitterInput(
        fs, "/in", windows=NoopWindowStore(), block_size=6, blocks_threshold=100
    ) as splitter:
        splitter.blocks_metadata_output = blocks.append
        splitter.begin_window(1)
        splitter.scanner.settle()
        splitter.emit_tuples()
        splitter.end_window()
    return blocks


def test_valid_records_are_written_to_a_file_for_each_block() -> None:
    """Two partitions share the blocks; lines that begin with a dot are dropped."""
    fs = MemoryFileSystem()
    for path, content in FILES.items():
        with fs.create(path) as file:
            file.write(content)
    outputs: dict[str, list[str]] = defaultdict(list)
    for partition in (0, 1):
        with FSReadAheadLineReader(fs, text()) as reader:
            for block in _blocks(fs):
                if hash(block) % 2 == partition:
                    for record in reader.process_block(block):
                        if not record.record.startswith("."):
                            outputs[f"{record.block_id:x}"].append(record.record)
    assert outputs == {"0": ["one"], "1": ["two"], "3": ["three"]}
