"""Tests that lines equal those of Hadoop's LineRecordReader, split by split."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import hadoop_jars
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.blockreader.readers import records_of

#: Parts of random files: line ends, text between them, and a BOM.
_PIECES = (b"\n", b"\r", b"\r\n", b"a", b"bc", b"\xff", b"0123456789" * 3, b"\xef\xbb\xbf", b"")
#: Offset and bytes of the records in one split.
Lines = list[tuple[int, bytes]]


@pytest.fixture(scope="session")
def hadoop() -> Callable[[Path, int, int], Lines]:
    """A function that returns Hadoop's lines in a split, given by start and end positions."""
    jvm.start(hadoop_jars(), short_lived=True)
    find = jvm.java_class
    lines = "org.apache.hadoop.mapreduce.lib.input"
    configuration = find("org.apache.hadoop.conf.Configuration")()
    attempt = find("org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl")(
        configuration, find("org.apache.hadoop.mapreduce.TaskAttemptID")()
    )
    path_of, split_of = find("org.apache.hadoop.fs.Path"), find(f"{lines}.FileSplit")
    reader_of, no_hosts = find(f"{lines}.LineRecordReader"), None

    def read(file: Path, start: int, end: int) -> Lines:
        reader = reader_of()
        split = split_of(path_of(str(file)), start, end - start, no_hosts)
        reader.initialize(split, attempt)
        found: Lines = []
        try:
            while reader.nextKeyValue():
                key, value = reader.getCurrentKey(), reader.getCurrentValue()
                found.append((int(key.get()), bytes(value.copyBytes())))
        finally:
            reader.close()
        return found

    return read


def _random_files(count: int) -> Iterator[tuple[bytes, int]]:
    """Yield contents, and a split size for each."""
    chosen = random.Random(7)
    for _ in range(count):
        content = b"".join(chosen.choices(_PIECES, k=chosen.randrange(12)))
        yield content, chosen.choice((1, 2, 3, 5, 8, 13, 40, 1000))


@pytest.mark.parametrize("count", [250, pytest.param(1000, marks=pytest.mark.deep)])
def test_random_files_give_the_lines_that_hadoop_reads(
    count: int, tmp_path: Path, hadoop: Callable[[Path, int, int], Any]
) -> None:
    """Each from the same split, with the same offset."""
    fs = LocalFileSystem(str(tmp_path))
    file = tmp_path / "text"
    for content, size in _random_files(count):
        file.write_bytes(content)
        ours: dict[int, Lines] = {}
        for record in records_of(fs, "/text", size):
            ours.setdefault((record.block_id - 1) * size, []).append((record.offset, record.record))
        for start in range(0, len(content), size):
            theirs = hadoop(file, start, min(start + size, len(content)))
            assert ours.get(start, []) == theirs, (content, size, start)
