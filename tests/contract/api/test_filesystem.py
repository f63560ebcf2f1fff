"""Byte buffers, statuses and ranges, and what interfaces do by default."""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    ETAGS_AVAILABLE,
    ByteBuffer,
    Closeable,
    FileRange,
    FileStatus,
    FileSystem,
)


class TestByteBuffer:
    def test_new_buffer_is_empty_and_zeroed(self) -> None:
        buffer = ByteBuffer.allocate(4)
        assert (buffer.position, buffer.limit, buffer.capacity) == (0, 4, 4)
        assert bytes(buffer.window()) == bytes(4)

    def test_window_is_between_position_and_limit(self) -> None:
        buffer = ByteBuffer(bytearray(b"abcdef"))
        buffer.position, buffer.limit = 2, 5
        assert bytes(buffer.window()) == b"cde"
        assert buffer.remaining == 3

    def test_window_writes_to_the_wrapped_memory(self) -> None:
        data = bytearray(b"abc")
        ByteBuffer(data).window()[0] = ord("x")
        assert data == b"xbc"

    def test_flip_makes_what_was_written_readable(self) -> None:
        buffer = ByteBuffer(bytearray(b"abcd"))
        buffer.position = 3
        assert bytes(buffer.flip().window()) == b"abc"

    def test_lower_limit_takes_the_position_with_it(self) -> None:
        buffer = ByteBuffer.allocate(4)
        buffer.position = 3
        buffer.limit = 1
        assert buffer.position == 1

    @pytest.mark.parametrize("value", [-1, 3])
    def test_position_outside_of_the_limit_is_refused(self, value: int) -> None:
        buffer = ByteBuffer.allocate(4)
        buffer.limit = 2
        with pytest.raises(IllegalArgumentException, match="position"):
            buffer.position = value

    @pytest.mark.parametrize("value", [-1, 5])
    def test_limit_outside_of_the_capacity_is_refused(self, value: int) -> None:
        with pytest.raises(IllegalArgumentException, match="limit"):
            ByteBuffer.allocate(4).limit = value

    def test_read_only_memory_is_refused(self) -> None:
        with pytest.raises(IllegalArgumentException, match="writable"):
            ByteBuffer(memoryview(b"abc"))


def test_ranges_with_other_futures_are_equal() -> None:
    assert FileRange(0, 4) == FileRange(0, 4, Future())


def test_status_is_of_a_file_without_etag_by_default() -> None:
    status = FileStatus("/a", 3)
    assert (status.is_directory, status.etag) == (False, None)


def test_status_has_the_values_that_it_was_created_with() -> None:
    status = FileStatus("/a", 3, True, 1.5, "", 7)
    values = (status.path, status.length, status.is_directory, status.modification_time)
    assert (*values, status.etag, status.block_size) == ("/a", 3, True, 1.5, "", 7)


def test_copies_of_a_status_are_equal_and_have_the_same_hash() -> None:
    status = FileStatus("/a", 3)
    copies = [pickle.loads(pickle.dumps(status)), replace(status), FileStatus(**asdict(status))]
    assert {status, *copies} == {status}
    assert replace(status, etag="e") != status


def test_status_can_not_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        FileStatus("/a", 3).etag = "e"  # type: ignore[misc]


def test_end_of_a_with_block_closes() -> None:
    closed: list[bool] = []

    class Door(Closeable):
        def close(self) -> None:
            closed.append(True)

    with Door():
        assert closed == []
    assert closed == [True]


class TestDefaultsOfFileSystem:
    def test_permissions_are_unsupported(self) -> None:
        filesystem: FileSystem = _bare()
        with pytest.raises(UnsupportedOperationException):
            filesystem.set_permission("/a", 0o644)
        with pytest.raises(UnsupportedOperationException):
            filesystem.access("/a", "r")

    def test_path_has_no_capabilities_and_nothing_is_counted(self) -> None:
        assert not _bare().has_path_capability("/a", ETAGS_AVAILABLE)
        assert _bare().io_statistics() == {}


def _bare() -> FileSystem:
    """Return a filesystem that overrides only what it has to."""
    methods = dict.fromkeys(FileSystem.__abstractmethods__)
    filesystem: FileSystem = type("Bare", (FileSystem,), methods)()
    return filesystem
