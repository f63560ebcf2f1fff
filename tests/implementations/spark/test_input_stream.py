"""Tests of driver streams: jobs, read-ahead, and errors."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import (
    ETAGS_AVAILABLE,
    ETAGS_PRESERVED_IN_RENAME,
    Buffer,
    FileRange,
    FSDataInputStream,
)
from fscontract.contract.api.openfile_options import BUFFER_SIZE, LENGTH, READ_POLICY
from fscontract.implementations.spark import input_stream
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.input_stream import JOBS
from tests.limits import DEADLOCK

DATA = bytes(range(256)) * 4096  # 1 MiB


def write(fs: SparkFileSystem, data: bytes = DATA, path: str = "/dir/a") -> str:
    with fs.create(path) as file:
        file.write(data)
    return path


def jobs(stream: FSDataInputStream) -> int:
    return stream.io_statistics()[JOBS]


def test_reads_give_the_bytes_of_the_file(fs: SparkFileSystem) -> None:
    """Stream reads, positioned reads, and vectored reads."""
    with fs.open(write(fs)) as opened:
        assert opened.as_file().read() == DATA
        buffer = bytearray(10)
        assert opened.pread(len(DATA) - 3, buffer) == 3
        assert buffer[:3] == DATA[-3:]
        ranges = [FileRange(n * 1000, 10) for n in range(1000)]
        opened.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert item.data.result(DEADLOCK) == DATA[item.offset :][:10]


def test_a_thousand_ranges_are_one_job(fs: SparkFileSystem) -> None:
    with fs.open(write(fs)) as opened:
        before = jobs(opened)
        opened.read_vectored([FileRange(n * 1000, 10) for n in range(1000)])
        assert jobs(opened) - before == 1


def test_large_range_is_reassembled_from_pieces(
    fs: SparkFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over several tasks and several jobs."""
    monkeypatch.setattr(input_stream, "pieces", partial(input_stream.pieces, maximum=100_000))
    monkeypatch.setattr(input_stream, "rounds", partial(input_stream.rounds, maximum=300_000))
    with fs.open(write(fs)) as opened:
        item = FileRange(1, len(DATA) - 2)
        opened.read_vectored([item])
        assert item.data is not None
        assert item.data.result(DEADLOCK) == DATA[1:-1]
        whole = bytearray(len(DATA))
        opened.unbuffer()
        opened.read_fully(0, whole)
        assert whole == DATA


def test_small_reads_use_the_read_ahead(fs: SparkFileSystem) -> None:
    with fs.open(write(fs)) as opened:
        assert [opened.read_byte() for _ in range(500)] == list(DATA[:500])
        opened.seek(100_000)
        assert opened.read_byte() == DATA[100_000]
        assert jobs(opened) == 1


@pytest.mark.parametrize(("policy", "most"), [("random", 16), ("default", 3), ("sequential", 1)])
def test_read_policies_set_the_read_ahead(fs: SparkFileSystem, policy: str, most: int) -> None:
    opening = fs.open_file(write(fs)).opt(READ_POLICY, policy)
    with opening.build().result() as opened:
        assert opened.as_file().read() == DATA
        assert jobs(opened) <= most + 1


def test_buffer_size_sets_the_read_ahead(fs: SparkFileSystem) -> None:
    opening = fs.open_file(write(fs)).opt_long(BUFFER_SIZE, 10).opt_long(LENGTH, len(DATA))
    with opening.build().result() as opened:
        for _ in range(20):
            opened.read_byte()
        assert jobs(opened) == 2


def test_calls_that_need_no_bytes_run_no_job(fs: SparkFileSystem) -> None:
    """Seeks in a file of known length, positions, argument checks, capabilities, close."""
    with fs.open(write(fs)) as opened:
        opened.seek(len(DATA))
        with pytest.raises(EOFException):
            opened.seek(len(DATA) + 1)
        with pytest.raises(IllegalArgumentException):
            opened.pread(0, bytearray(1), 0, -1)
        assert (opened.get_pos(), opened.read_byte()) == (len(DATA), -1)
        assert opened.has_capability("in:unbuffer")
        assert jobs(opened) == 1


def test_opening_with_a_builder_runs_no_job(fs: SparkFileSystem) -> None:
    """A missing file raises at the first read; open() raises immediately."""
    missing = fs.open_file("/dir/none").build().result()
    assert jobs(missing) == 0
    with pytest.raises(FileNotFoundException) as late:
        missing.read_byte()
    with pytest.raises(FileNotFoundException) as early:
        fs.open("/dir/none")
    assert (late.value.path, early.value.path) == ("/dir/none", "/dir/none")


def test_stream_stays_with_its_version(fs: SparkFileSystem) -> None:
    """Each task opens the file separately, and checks the version."""
    with fs.open(write(fs)) as opened:
        write(fs, DATA[::-1])
        with pytest.raises(RemoteFileChangedException) as caught:
            opened.pread(900_000, bytearray(10))
        assert caught.value.path == "/dir/a"


def test_failed_range_releases_its_buffer(local: SparkFileSystem) -> None:
    """The file is deleted between call and task, or is shorter than declared."""
    path = write(local)
    with local.open_file(path).opt_long(LENGTH, len(DATA) + 100).build().result() as opened:
        released: list[Buffer] = []
        good, bad = FileRange(0, 5), FileRange(len(DATA) - 5, 10)
        opened.read_vectored([good, bad], bytearray, released.append)
        assert good.data is not None
        assert bad.data is not None
        assert good.data.result(DEADLOCK) == DATA[:5]
        with pytest.raises(EOFException):
            bad.data.result(DEADLOCK)
        assert [len(buffer) for buffer in released] == [10]


def test_executors_close_every_stream_they_open(local: SparkFileSystem) -> None:
    """Executor counters are returned with the bytes."""
    with local.open(write(local)) as opened:
        opened.pread(900_000, bytearray(10))
        counts = opened.io_statistics()
    assert counts["stream_read_opened"] == counts["stream_read_closed"] == 2
    assert counts["stream_read_total_bytes"] == input_stream.AHEAD["normal"].first + 10
    assert counts["stream_read_bytes"] == 10
    total = local.io_statistics()
    assert (total["op_open"], total["stream_read_operations"]) == (1, 1)


def test_pandas_and_others_read_through_fsspec(fs: SparkFileSystem) -> None:
    view = fs.as_fsspec()
    assert view.cat_file(write(fs), start=5, end=9) == DATA[5:9]
    assert [entry["size"] for entry in view.ls("/dir")] == [len(DATA)]


def test_operations_other_than_reads_run_in_the_driver(fs: SparkFileSystem, tmp_path: Path) -> None:
    path = write(fs)
    fs.mkdirs("/other")
    fs.rename(path, "/other/b")
    assert [status.path for status in fs.list_status("/other")] == ["/other/b"]
    assert fs.get_file_status("/other/b").length == len(DATA)
    for name in (ETAGS_AVAILABLE, ETAGS_PRESERVED_IN_RENAME, "fs.capability.none.such"):
        there = fs.inner.has_path_capability("/other/b", name)
        assert fs.has_path_capability("/other/b", name) == there
    assert fs.delete("/other", recursive=True)
