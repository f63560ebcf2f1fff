"""Tests of Hadoop's readers over streams of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.fakes import FakeFileSystem, Fault
from fscontract.implementations.jvm.bridge import java_stream
from tests.implementations.support import write

Java: TypeAlias = Callable[[str], Any]

LINES = [f"line {i} {'x' * (i % 90)}" for i in range(3000)]
RECORDS = [(i, f"value {i}") for i in range(300)]


def _text(path: str, fs: FileSystem) -> bytes:
    data = "".join(f"{line}\n" for line in LINES).encode()
    write(fs, path, data)
    return data


def test_the_line_reader_reads_every_line(fs: FileSystem, java: Java) -> None:
    """From a stream alone."""
    _text("/lines", fs)
    reader, line = java("util.LineReader")(java_stream(fs.open("/lines"))), java("io.Text")()
    found: list[str] = []
    while reader.readLine(line) > 0:
        found.append(str(line))
    reader.close()
    assert found == LINES


def test_the_line_reader_reads_every_line_of_a_fake_with_short_reads(java: Java) -> None:
    fake = FakeFileSystem(short_reads=True, retries=0)
    requests = len(_text("/lines", fake)) // 1000
    fake.attach(Fault.short(1000, times="all"))
    reader, line = java("util.LineReader")(java_stream(fake.open("/lines"))), java("io.Text")()
    found: list[str] = []
    while reader.readLine(line) > 0:
        found.append(str(line))
    reader.close()
    assert fake.injector.fired >= requests
    assert found == LINES


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (Fault.timeout(operation="get"), "java.net.SocketTimeoutException"),
        (Fault.reset(operation="get"), "java.io.IOException"),
    ],
)
def test_a_fault_of_the_fake_reaches_java_as_an_exception(
    fault: Fault, name: str, java: Java
) -> None:
    fake = FakeFileSystem(retries=0)
    _text("/lines", fake)
    fake.attach(fault)
    with java_stream(fake.open("/lines")) as stream, pytest.raises(Exception) as caught:  # noqa: PT011 - a Java class
        stream.read()
    assert caught.value.getClass().getName() == name  # type: ignore[attr-defined]


def test_splits_of_a_text_file_have_every_line_once(
    fs: FileSystem, bridged: Any, java: Java
) -> None:
    """LineRecordReader opens the path itself, through openFile, at positions within lines."""
    length = len(_text("/dir/lines", fs))
    path = bridged.makeQualified(java("fs.Path")("/dir/lines"))
    found: list[str] = []
    for start in range(0, length, 10_007):
        found += _lines_of(java, bridged.getConf(), path, start, min(10_007, length - start))
    assert found == LINES


def _lines_of(java: Java, conf: Any, path: Any, start: int, length: int) -> Iterator[str]:
    split = java("mapreduce.lib.input.FileSplit")(path, start, length, [])
    attempt = java("mapreduce.TaskAttemptID")()
    context = java("mapreduce.task.TaskAttemptContextImpl")(conf, attempt)
    reader = java("mapreduce.lib.input.LineRecordReader")()
    reader.initialize(split, context)
    while reader.nextKeyValue():
        yield str(reader.getCurrentValue())
    reader.close()


@pytest.fixture(scope="session")
def sequence(tmp_path_factory: pytest.TempPathFactory, java: Java) -> bytes:
    """A sequence file that Hadoop wrote to local disk."""
    place: Path = tmp_path_factory.mktemp("sequence") / "file"
    writer_of = java("io.SequenceFile$Writer")
    number, text = java("io.LongWritable"), java("io.Text")
    writer = java("io.SequenceFile").createWriter(
        java("conf.Configuration")(),
        [
            writer_of.file(java("fs.Path")(str(place))),
            writer_of.keyClass(number.class_),
            writer_of.valueClass(text.class_),
        ],
    )
    for key, value in RECORDS:
        # select the method for objects, because JPype can't choose
        _as_object = java("java.lang.Object")
        writer.append(_as_object @ number(key), _as_object @ text(value))
    writer.close()
    return place.read_bytes()


def _records(java: Java, reader: Any) -> list[tuple[int, str]]:
    key, value, found = java("io.LongWritable")(), java("io.Text")(), []
    while reader.next(key, value):
        found.append((int(key.get()), str(value)))
    reader.close()
    return found


def test_a_sequence_file_is_read_by_its_path(
    fs: FileSystem, bridged: Any, java: Java, sequence: bytes
) -> None:
    """The reader finds the filesystem by the scheme of the path."""
    write(fs, "/sequence", sequence)
    path = bridged.makeQualified(java("fs.Path")("/sequence"))
    reader_of = java("io.SequenceFile$Reader")
    assert _records(java, reader_of(bridged.getConf(), [reader_of.file(path)])) == RECORDS


@pytest.mark.parametrize("buffer_size", [0, 512])
def test_a_sequence_file_is_read_from_a_stream(
    fs: FileSystem, java: Java, sequence: bytes, buffer_size: int
) -> None:
    """With Hadoop's buffer between them, and without."""
    write(fs, "/sequence", sequence)
    reader_of = java("io.SequenceFile$Reader")
    options = [
        reader_of.stream(java_stream(fs.open("/sequence"), buffer_size)),
        reader_of.length(len(sequence)),
    ]
    assert _records(java, reader_of(java("conf.Configuration")(), options)) == RECORDS


def test_a_parquet_file_of_pyarrow_is_read_with_all_its_rows(
    fs: FileSystem, bridged: Any, java: Java
) -> None:
    """Footer and rows; the reader makes vectored reads of the columns."""
    rows = pa.table({"n": list(range(2000)), "s": [str(i) for i in range(2000)]})
    with fs.create("/t.parquet") as file:
        pq.write_table(rows, file, row_group_size=500)
    path = bridged.makeQualified(java("fs.Path")("/t.parquet"))
    conf = bridged.getConf()
    parquet = "org.apache.parquet.hadoop"
    source = java(f"{parquet}.util.HadoopInputFile").fromPath(path, conf)
    with java(f"{parquet}.ParquetFileReader").open(source) as reader:
        assert reader.getRecordCount() == 2000
        assert reader.getFooter().getBlocks().size() == 4
    support = java(f"{parquet}.example.GroupReadSupport")()
    found = []
    with java(f"{parquet}.ParquetReader").builder(support, path).withConf(conf).build() as rows_of:
        while (row := rows_of.read()) is not None:
            found.append((int(row.getLong("n", 0)), str(row.getString("s", 0))))
    assert found == [(i, str(i)) for i in range(2000)]
