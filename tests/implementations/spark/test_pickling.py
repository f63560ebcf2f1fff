"""Tests of pickled streams and builders, which open on first use after unpickling."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream
from fscontract.contract.api.openfile_options import READ_POLICY, SPLIT_END, SPLIT_START
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.pickling import LazyInputStream

DATA = bytes(range(200))


@pytest.fixture
def path(fs: SparkFileSystem) -> str:
    """A file of 200 bytes."""
    with fs.create("/dir/a") as file:
        file.write(DATA)
    return "/dir/a"


class ForeignStatus(FileStatus):
    """A status class that executors don't have."""


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_unpickled_stream_continues_at_its_position(fs: SparkFileSystem, path: str) -> None:
    with fs.open(path) as stream:
        stream.seek(5)
        copy = sent(stream)
        assert stream.read_byte() == DATA[5]
    assert isinstance(copy, LazyInputStream)
    assert copy.get_pos() == 5
    assert "not opened" in repr(copy)
    assert (copy.read_byte(), copy.get_pos()) == (DATA[5], 6)
    with sent(copy) as again:
        assert again.read_byte() == DATA[6]
    copy.close()


def test_nothing_is_opened_before_it_is_used(fs: SparkFileSystem, path: str) -> None:
    """So a file that is missing by then raises at the first read."""
    with fs.open(path) as stream:
        copy = sent(stream)
    fs.delete(path)
    assert copy.get_pos() == 0
    copy.unbuffer()
    assert copy.has_capability("in:unbuffer")
    assert copy.io_statistics() == {}
    if "MemoryFileSystem" in repr(fs):  # its file was sent with it
        assert copy.read_byte() == DATA[0]
        return
    with pytest.raises(FileNotFoundException):
        copy.read_byte()


def test_unpickled_stream_stays_with_the_version(local: SparkFileSystem) -> None:
    for content in (DATA, DATA[::-1]):
        with local.create("/a") as file:
            file.write(content)
        if content is DATA:
            stream = local.open("/a")
            copy = sent(stream)
    with pytest.raises(RemoteFileChangedException):
        copy.read_byte()
    stream.close()


def test_closed_stream_can_not_be_pickled(fs: SparkFileSystem, path: str) -> None:
    stream = fs.open(path)
    copy = sent(stream)
    for one in (stream, copy):
        one.close()
        with pytest.raises(PathIOException, match="closed"):
            pickle.dumps(one)
        with pytest.raises(PathIOException, match="closed"):
            one.read_byte()


def test_a_builder_is_sent_with_its_options(fs: SparkFileSystem, path: str) -> None:
    """A mandatory key stays mandatory."""
    builder = fs.open_file(path).opt_long(SPLIT_START, 50).must(READ_POLICY, "random")
    builder.with_file_status(fs.get_file_status(path))
    with sent(builder).build().result() as stream:
        assert stream.as_file().read() == DATA
    with pytest.raises(ValueError, match="unknown option"):
        sent(fs.open_file(path).must("unknown", 1)).build()


def test_status_of_a_foreign_class_is_converted(fs: SparkFileSystem, path: str) -> None:
    """The executor may not have the class."""
    status = ForeignStatus(path, len(DATA))
    data = pickle.dumps(fs.open_file(path).with_file_status(status))
    assert b"ForeignStatus" not in data
    stream = fs.open_file(path).with_file_status(status).build().result()
    assert b"ForeignStatus" not in pickle.dumps(stream)
    assert stream.read_byte() == DATA[0]
    stream.close()


def test_local_filesystem_is_pickled_and_cached(local: SparkFileSystem) -> None:
    first, second = sent(local), sent(local)
    assert first is second
    assert type(first) is type(local.inner)


def test_a_lease_ends_with_the_stream(local: SparkFileSystem) -> None:
    """A closed or lost stream no longer keeps its filesystem open."""
    with local.create("/a") as file:
        file.write(DATA)
    for end in (LazyInputStream.close, lambda stream: None):
        stream: LazyInputStream = sent(local.open("/a"))
        stream.read_byte()
        users = FILESYSTEMS._cached[local.location][1]
        end(stream)
        del stream
        assert FILESYSTEMS._cached[local.location][1] == users - 1


# In executors ---------------------------------------------------------------------------------


def first_byte(stream: FSDataInputStream) -> tuple[int, int]:
    with stream:
        return os.getpid(), stream.read_byte()


def test_streams_and_builders_read_in_tasks_of_rdds(
    fs: SparkFileSystem, path: str, spark: Any
) -> None:
    """Without another job: the driver's stream counts none."""
    with fs.open(path) as stream:
        before = stream.io_statistics()
        stream.seek(7)
        pid, byte = spark.sparkContext.parallelize([stream], 1).map(first_byte).first()
        assert stream.io_statistics()["stream_spark_jobs"] == before["stream_spark_jobs"]
    assert pid != os.getpid()
    assert byte == DATA[7]
    builder = fs.open_file(path).opt_long(SPLIT_START, 50).opt_long(SPLIT_END, 60)
    built = spark.sparkContext.parallelize([builder], 1)
    assert built.map(lambda b: b.build().result().as_file().read(3)).first() == DATA[:3]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully:FutureWarning")
def test_streams_read_in_functions_over_arrow(fs: SparkFileSystem, path: str, spark: Any) -> None:
    """One stream for each split, with its hints."""
    import pyarrow as pa

    builder = fs.open_file(path)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                builder.opt_long(SPLIT_START, number * 100).opt_long(SPLIT_END, number * 100 + 100)
                with builder.build().result() as stream:
                    data = bytearray(100)
                    stream.read_fully(number * 100, data)
                yield pa.RecordBatch.from_pydict({"data": [bytes(data)]})

    rows = spark.range(0, 2, 1, 2).mapInArrow(read, "data binary").toArrow()
    assert b"".join(rows.column(0).to_pylist()) == DATA


def test_workers_share_a_filesystem_and_close_all_streams(
    local: SparkFileSystem, spark: Any
) -> None:
    """The number of descriptors is the same after many tasks, and the filesystem is reused."""
    with local.create("/a") as file:
        file.write(DATA)

    def look(stream: FSDataInputStream) -> tuple[int, int, int]:
        from fscontract.implementations.spark.executor_reads import FILESYSTEMS

        pid, _ = first_byte(stream)
        kept = FILESYSTEMS.take(local_place)
        FILESYSTEMS.give_back(local_place)
        return pid, len(list(Path("/proc/self/fd").iterdir())), id(kept)

    local_place = local.location
    streams = [local.open_file("/a").build().result() for _ in range(40)]
    found = spark.sparkContext.parallelize(streams, 2).map(look).collect()
    by_worker: dict[int, set[tuple[int, int]]] = {}
    for pid, descriptors, kept in found:
        by_worker.setdefault(pid, set()).add((descriptors, kept))
    assert all(len(states) == 1 for states in by_worker.values())


def test_open_without_status_requests_none(local: SparkFileSystem) -> None:
    status = FileStatus("/a", len(DATA))
    with local.create("/a") as file:
        file.write(DATA)
    stream = local.open_file("/a").with_file_status(status).build().result()
    assert stream.read_byte() == DATA[0]
    assert local.io_statistics()["op_get_file_status"] == 0
    stream.close()
