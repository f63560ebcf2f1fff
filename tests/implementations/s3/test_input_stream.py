"""Tests of S3InputStream: requests sent and bytes returned."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    InterruptedIOException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import FileRange, FileStatus, FSDataInputStream
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.s3 import read_ahead
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import Reader
from fscontract.implementations.s3.input_stream import S3InputStream
from fscontract.implementations.s3.object_reader import ByteRange
from tests.implementations.s3.memorysource import BUCKET, MemorySource, etag_of
from tests.limits import DEADLOCK

KIB, MIB = 1 << 10, 1 << 20
SIZE = 20 * MIB
DATA = random.Random(2).randbytes(MIB) * 20


class Store:
    """One object, and streams over it."""

    def __init__(self) -> None:
        self.source = MemorySource()
        self.source.objects["key"] = DATA
        self.config = S3Config(BUCKET)

    def open(self, config: S3Config | None = None, **options: Any) -> S3InputStream:
        """Return a stream opened with options named as in OpenOptions."""
        reader = Reader(config or self.config, lambda: self.source)
        return reader.open("/key", OpenOptions(**options))

    @property
    def asked(self) -> list[tuple[int, int | None]]:
        """Requested ranges."""
        return [(want.start, want.stop) for want in self.source.requests if want is not None]


@pytest.fixture
def store() -> Iterator[Store]:
    """A store; no thread may be left after the test."""
    before = set(threading.enumerate())
    yield Store()
    assert not set(threading.enumerate()) - before


def drain(stream: FSDataInputStream, piece: int = 64 * KIB, most: int = SIZE) -> bytes:
    """Read to EOF in pieces."""
    found = bytearray()
    buffer = bytearray(piece)
    while len(found) < most and (count := stream.read_into(buffer)) > 0:
        found += buffer[:count]
    return bytes(found)


def pread(stream: FSDataInputStream, position: int, length: int) -> bytes:
    """Return the bytes of a positioned read."""
    buffer = bytearray(length)
    return bytes(buffer[: max(0, stream.pread(position, buffer))])


def test_open_sends_no_request(store: Store) -> None:
    with store.open() as stream:
        assert "pos=0/?" in repr(stream)
    assert store.source.requests == []


def test_first_read_is_one_request_that_reveals_the_length(store: Store) -> None:
    with store.open() as stream:
        assert drain(stream, KIB, KIB) == DATA[:KIB]
        assert stream.available() == SIZE - KIB
        assert stream.etag == etag_of(DATA).strip('"')
    assert store.asked == [(0, 128 * KIB)]


def test_declared_length_limits_the_request(store: Store) -> None:
    with store.open(length=1000) as stream:
        assert drain(stream) == DATA[:1000]
    assert store.asked == [(0, 1000)]


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_long_read_after_a_short_one_is_one_request_however_small_the_buffer(
    store: Store, size: int
) -> None:
    with store.open(read_policy="random", buffer_size=size) as stream:
        assert stream.read_byte() == DATA[0]
        assert drain(stream, MIB, MIB) == DATA[1 : MIB + 1]
    first = max(size, 1)
    asked = [(0, first), (first, MIB + 1)]
    assert store.asked == asked


def test_missing_object_raises_on_the_first_read(store: Store) -> None:
    del store.source.objects["key"]
    with store.open() as stream, pytest.raises(FileNotFoundException):
        stream.read_byte()


@pytest.mark.parametrize(
    ("policy", "requests"),
    [("default", 2), ("adaptive", 2), ("sequential", 1), ("csv", 1), ("whole-file", 3)],
)
def test_reading_a_whole_object_sends_few_growing_requests(
    store: Store, policy: str, requests: int
) -> None:
    with store.open(read_policy=policy) as stream:
        assert drain(stream) == DATA
    assert len(store.asked) == requests
    assert sorted(store.asked)[0][0] == 0
    assert sum(min(stop or SIZE, SIZE) - start for start, stop in store.asked) == SIZE


@pytest.mark.parametrize("policy", ["default", "sequential", "whole-file"])
def test_slow_store_is_read_in_parallel_parts_within_the_prefetch_limit(
    store: Store, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_ahead, "SLOW", 0.0)
    config = replace(store.config, prefetch=16 * MIB)
    with store.open(config, read_policy=policy) as stream:
        found = drain(stream, 64 * KIB, 64 * KIB)
        stream._workers.submit(lambda: None).result(DEADLOCK)
        first = 128 * KIB if policy == "default" else 8 * MIB
        ahead = stream._read_ahead
        assert ahead is not None
        assert first < ahead.asked <= first + 16 * MIB
        assert found + drain(stream) == DATA
    assert sorted(store.asked) == [
        (start, min(start + 8 * MIB, SIZE)) if start else (0, first)
        for start in [0, *range(first, SIZE, 8 * MIB)]
    ]


@pytest.mark.parametrize(
    ("policy", "requests"), [("default", 2), ("sequential", 2), ("whole-file", 3)]
)
def test_fast_store_is_read_in_few_requests_with_prefetch(
    store: Store, policy: str, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_ahead, "SLOW", float("inf"))
    with store.open(replace(store.config, prefetch=16 * MIB), read_policy=policy) as stream:
        assert drain(stream) == DATA
    assert len(store.asked) == requests


def test_prefetch_below_one_part_changes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_ahead, "SLOW", 0.0)
    config = replace(store.config, prefetch=8 * MIB - 1)
    with store.open(config, read_policy="sequential") as stream:
        assert drain(stream) == DATA
    assert len(store.asked) == 1


def test_next_window_is_requested_while_one_is_read(store: Store) -> None:
    with store.open() as stream:
        drain(stream, 100 * KIB, 100 * KIB)
        # runs after all work submitted before
        stream._workers.submit(lambda: None).result(DEADLOCK)
        assert store.asked == [(0, 128 * KIB), (128 * KIB, SIZE)]


def test_no_read_ahead_for_a_reader_of_the_first_bytes(store: Store) -> None:
    with store.open() as stream:
        drain(stream, KIB, KIB)
        assert stream._workers._pool is None


def test_short_forward_seek_reuses_the_request(store: Store) -> None:
    with store.open(read_policy="sequential") as stream:
        stream.read_byte()
        stream.seek(30 * KIB)
        assert drain(stream, 10, 10) == DATA[30 * KIB :][:10]
    assert len(store.asked) == 1


def test_long_forward_seek_starts_a_new_run(store: Store) -> None:
    with store.open() as stream:
        stream.read_byte()
        stream.seek(10 * MIB)
        assert drain(stream, 10, 10) == DATA[10 * MIB :][:10]
    assert store.asked == [(0, 128 * KIB), (10 * MIB, 10 * MIB + 128 * KIB)]


def test_seeks_send_no_requests(store: Store) -> None:
    with store.open(length=SIZE) as stream:
        for position in (5, SIZE, 0, 12345):
            stream.seek(position)
    assert store.asked == []


def test_seek_with_unknown_length_requests_the_target_bytes(store: Store) -> None:
    with store.open() as stream:
        stream.seek(10 * MIB)
        stream.read_byte()
        with pytest.raises(EOFException):
            stream.seek(SIZE + 1)
        assert stream.get_pos() == 10 * MIB + 1
    assert store.asked == [(10 * MIB, 10 * MIB + 128 * KIB)]


def test_seek_past_eof_with_unknown_length_raises(store: Store) -> None:
    with store.open() as stream:
        with pytest.raises(EOFException):
            stream.seek(SIZE + 1)
        assert stream.get_pos() == 0


@pytest.mark.parametrize("how", ["seek", "pread", "read_vectored"])
def test_adaptive_stream_switches_to_random(store: Store, how: str) -> None:
    with store.open(length=SIZE) as stream:
        stream.seek(10 * MIB)
        stream.read_byte()
        if how == "seek":
            stream.seek(0)
            stream.read_byte()
        elif how == "pread":
            pread(stream, 0, 10)
        else:
            stream.read_vectored([FileRange(0, 10)])
        stream.seek(5 * MIB)
        stream.read_byte()
    assert store.asked[-1] == (5 * MIB, 5 * MIB + 64 * KIB)


def test_positioned_read_requests_its_range_and_keeps_the_read_ahead(store: Store) -> None:
    with store.open() as stream:
        stream.read_byte()
        assert pread(stream, 10 * MIB, 4096) == DATA[10 * MIB :][:4096]
        stream.read_byte()
        assert stream.get_pos() == 2
    assert store.asked == [(0, 128 * KIB), (10 * MIB, 10 * MIB + 4096)]


def test_split_end_sizes_the_first_request_without_limiting_reads(store: Store) -> None:
    with store.open(split_start=MIB, split_end=2 * MIB) as stream:
        stream.seek(MIB)
        assert drain(stream, 64 * KIB, MIB + 10) == DATA[MIB:][: MIB + 64 * KIB]
        assert store.asked == [(MIB, 2 * MIB + 64 * KIB)]
        assert drain(stream, 64 * KIB, 2 * MIB) == DATA[2 * MIB + 64 * KIB :][: 2 * MIB]


@pytest.mark.parametrize("policy", ["parquet", "orc"])
@pytest.mark.parametrize("length", [None, SIZE])
def test_footer_is_one_request(store: Store, policy: str, length: int | None) -> None:
    with store.open(read_policy=policy, length=length) as stream:
        file = stream.as_file()
        file.seek(-8, 2)
        assert file.read(8) == DATA[-8:]
        assert pread(stream, SIZE - 60000, 50000) == DATA[SIZE - 60000 :][:50000]
    assert len(store.source.requests) == 1


def test_nearby_vectored_ranges_are_one_request(store: Store) -> None:
    ranges = [FileRange(n * 64 * KIB, 4 * KIB) for n in reversed(range(20))]
    with store.open(length=SIZE) as stream:
        stream.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert bytes(item.data.result(DEADLOCK)) == DATA[item.offset :][: item.length]
    assert store.asked == [(0, 19 * 64 * KIB + 4 * KIB)]


def test_distant_vectored_ranges_are_separate_requests(store: Store) -> None:
    ranges = [FileRange(n * MIB, 10) for n in range(5)]
    with store.open() as stream:
        stream.read_vectored(ranges)
        assert [bytes(item.data.result(DEADLOCK)) for item in ranges if item.data] == [
            DATA[:10]
        ] * 5
    assert sorted(store.asked) == [(n * MIB, n * MIB + 10) for n in range(5)]


def test_vectored_read_past_unknown_eof_raises_from_the_call(store: Store) -> None:
    released: list[object] = []
    with store.open() as stream, pytest.raises(EOFException):
        stream.read_vectored([FileRange(0, 10), FileRange(SIZE, 1)], bytearray, released.append)
    assert released == []


def test_only_failed_ranges_release_their_buffers(store: Store) -> None:
    def fail(_key: str, want: ByteRange | None) -> None:
        if want is not None and want.start == MIB:
            raise FileNotFoundException("/key", "gone")

    released: list[Any] = []
    ranges = [FileRange(0, 10), FileRange(MIB, 11)]
    with store.open(length=SIZE) as stream:
        store.source.before = fail
        stream.read_vectored(ranges, bytearray, released.append)
        good, bad = (item.data for item in ranges)
        assert good is not None
        assert bad is not None
        assert bytes(good.result(DEADLOCK)) == DATA[:10]
        with pytest.raises(FileNotFoundException):
            bad.result(DEADLOCK)
    assert [len(buffer) for buffer in released] == [11]


def test_close_cancels_a_vectored_read_and_completes_all_futures(store: Store) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def block(_key: str, _want: ByteRange | None) -> None:
        entered.set()
        go_on.wait(DEADLOCK)

    store.source.before = block
    stream = store.open(replace(store.config, connections=1), length=SIZE)
    ranges = [FileRange(n * MIB, 10) for n in range(5)]
    stream.read_vectored(ranges)
    assert entered.wait(DEADLOCK)
    closing = threading.Thread(target=stream.close)
    closing.start()
    go_on.set()
    closing.join(DEADLOCK)
    for item in ranges[1:]:
        assert item.data is not None
        with pytest.raises(InterruptedIOException):
            item.data.result(DEADLOCK)


def test_unbuffer_returns_the_connection_and_reading_continues(store: Store) -> None:
    with store.open(read_policy="sequential") as stream:
        stream.read_byte()
        stream.unbuffer()
        assert store.source.bodies[0].closed
        statistics = stream.io_statistics()
        assert statistics["stream_read_opened"] == statistics["stream_read_closed"] == 1
        assert stream.read_byte() == DATA[1]


def test_close_releases_all_resources(store: Store) -> None:
    stream = store.open()
    drain(stream, 100 * KIB, 100 * KIB)
    stream.close()
    assert all(body.closed for body in store.source.bodies)
    with pytest.raises(PathIOException):
        stream.read_byte()


def test_garbage_collected_stream_releases_all_resources(store: Store) -> None:
    stream = store.open()
    drain(stream, 100 * KIB, 100 * KIB)
    del stream
    assert all(body.closed for body in store.source.bodies)


def test_error_after_some_bytes_is_raised_by_the_next_read(store: Store) -> None:
    store.source.piece = 10
    with store.open(read_policy="sequential") as stream:
        stream.read_byte()
        stream.seek(5)
        store.source.objects["key"] = DATA[::-1]
        body = store.source.bodies[0]
        body._rest = body._rest[:10]
        assert drain(stream, 100, 10) == DATA[5:20]
        position = stream.get_pos()
        with pytest.raises(RemoteFileChangedException):
            stream.read_into(bytearray(10))
        assert stream.get_pos() == position


def test_replaced_object_raises(store: Store) -> None:
    with store.open() as stream:
        stream.read_byte()
        store.source.objects["key"] = DATA[::-1]
        with pytest.raises(RemoteFileChangedException):
            pread(stream, 10 * MIB, 10)


def test_status_pins_the_version_from_the_first_request(store: Store) -> None:
    status = FileStatus("/key", SIZE, etag="another")
    with (
        store.open(status=status, length=SIZE) as stream,
        pytest.raises(RemoteFileChangedException),
    ):
        stream.read_byte()


def test_replaced_object_is_followed_if_configured(store: Store) -> None:
    new = DATA[::-1][: 10 * MIB]
    with store.open(replace(store.config, on_change="follow")) as stream:
        stream.read_byte()
        store.source.objects["key"] = new
        assert pread(stream, 5 * MIB, 100) == new[5 * MIB :][:100]
        assert stream.read_byte() == new[1]
        assert stream.available() == len(new) - 2


def test_following_call_returns_bytes_of_one_version(store: Store) -> None:
    new = bytes(SIZE)
    store.source.piece = 50
    with store.open(replace(store.config, on_change="follow"), length=SIZE) as stream:

        def replace_it(_key: str, want: ByteRange | None) -> None:
            if want is not None and want.start > MIB:
                store.source.objects["key"] = new

        store.source.before = replace_it
        seen: list[Any] = []

        def spoil(body: Any) -> Any:
            if not seen:
                body._rest = body._rest[:100]
            seen.append(body)
            return body

        store.source.spoil = spoil
        assert pread(stream, MIB, 1000) == new[:1000]


def test_idle_streams_hold_no_threads_or_connections(store: Store) -> None:
    reader = Reader(store.config, lambda: store.source)
    before = set(threading.enumerate())
    streams = [reader.open("/key", OpenOptions()) for _ in range(1000)]
    for stream in streams:
        stream.read_byte()
    assert not set(threading.enumerate()) - before
    assert all(not body._rest for body in store.source.bodies)
    for stream in streams:
        stream.close()


def test_statistics_count_requests_and_bytes(store: Store) -> None:
    with store.open() as stream:
        drain(stream, KIB, KIB)
        pread(stream, MIB, 10)
        counts = stream.io_statistics()
    assert counts["action_http_get_request"] == counts["store_io_request"] == 2
    assert counts["stream_read_bytes"] == KIB + 10
    assert counts["stream_read_total_bytes"] == 128 * KIB + 10
