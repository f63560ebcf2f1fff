"""Tests of the cost of local reads, by policy and options."""

from __future__ import annotations

import pytest

from fscontract.contract.api.filesystem import ByteBuffer, FileRange
from fscontract.contract.api.openfile_options import FOOTER_CACHE, READ_POLICY
from fscontract.contract.program.content import content
from fscontract.implementations.local import LocalFileSystem

from .support import counted, write

DATA = content(200_000)


class TestCosts:
    @pytest.mark.parametrize("size", [1, 64 << 10, 100_000, 1 << 20])
    def test_a_whole_file_is_read_in_large_blocks(self, local: LocalFileSystem, size: int) -> None:
        """For all kinds of reads."""
        data = bytes(4 << 20)
        write(local, "/a", data)
        builder = local.open_file("/a").opt(READ_POLICY, "whole-file")
        with builder.build().result() as stream:
            if size == 1:
                assert all(stream.read_byte() == 0 for _ in range(len(data)))
            else:
                buffer = bytearray(size)
                while stream.read_into(buffer) > 0:
                    pass
            assert stream.get_pos() == len(data)
            assert counted(stream, "store_io_request")[0] <= 8

    @pytest.mark.parametrize(
        ("policy", "most"), [("default", 16), ("random", 16), ("orc", 16), ("csv", 1)]
    )
    def test_little_is_read_ahead_unless_a_policy_wants_it(
        self, local: LocalFileSystem, policy: str, most: int
    ) -> None:
        """64 KiB, read byte by byte."""
        write(local, "/a", DATA)
        with local.open_file("/a").opt(READ_POLICY, policy).build().result() as stream:
            for _ in range(1 << 16):
                stream.read_byte()
            assert counted(stream, "store_io_request", "total_bytes") == [most, 1 << 16]

    @pytest.mark.parametrize("size", [512, 8192])
    def test_a_buffer_size_is_how_much_a_request_asks_for(
        self, local: LocalFileSystem, size: int
    ) -> None:
        write(local, "/a", DATA)
        with local.open_file("/a").buffer_size(size).build().result() as stream:
            for _ in range(1 << 16):
                stream.read_byte()
            assert counted(stream, "store_io_request", "total_bytes") == [
                (1 << 16) // size,
                1 << 16,
            ]

    def test_moving_in_a_buffer_costs_nothing(self, local: LocalFileSystem) -> None:
        """Positioned reads, which have their own cost, do not disturb the buffer."""
        write(local, "/a", DATA)
        with local.open("/a") as stream:
            stream.read_byte()
            stream.pread(100_000, bytearray(5000))
            before = counted(stream, "store_io_request")
            for position in (4000, 0, 17):
                stream.seek(position)
                stream.read_byte()
                stream.read_into(bytearray(50))
            assert counted(stream, "store_io_request") == before == [2]

    def test_a_footer_costs_one_request(self, local: LocalFileSystem) -> None:
        write(local, "/a", DATA)
        with local.open_file("/a").opt(FOOTER_CACHE, True).build().result() as stream:
            stream.pread(len(DATA) - 8, bytearray(8))
            assert counted(stream, "store_io_request", "total_bytes", "bytes") == [1, 1 << 16, 8]
            stream.read_fully(len(DATA) - (1 << 16), bytearray(1 << 16))
            stream.read_vectored([FileRange(len(DATA) - 10, 10)])
            stream.read_fully_buffer(len(DATA) - 3, ByteBuffer.allocate(3))
            assert counted(stream, "store_io_request") == [1]
            stream.pread(len(DATA) - (1 << 16) - 1, bytearray(2))
            assert counted(stream, "store_io_request") == [2], "it began before the footer"
