"""Tests of paths, statuses and lengths passed to `open_file`, on each filesystem."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import (
    BlockLocation,
    FileRange,
    FileStatus,
    FileSystem,
    FSDataInputStream,
    LocatedFileStatus,
)
from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    SPLIT_END,
    SPLIT_START,
)
from fscontract.implementations.local import LocalFileSystem

from .support import read, rest_of, write

DATA = bytes(range(100))
BEYOND = [len(DATA) + 1, 150, 1 << 20, 2**40, 2**63 - 1]


def built(
    fs: FileSystem, status: FileStatus | None = None, numbers: Mapping[str, int] | None = None
) -> Future[FSDataInputStream]:
    """Return the future of `/dir/a` with a status and options."""
    builder = fs.open_file("/dir/a").with_file_status(status)
    for key, number in (numbers or {}).items():
        builder.opt_long(key, number)
    return builder.build()


@pytest.fixture
def held(fs: FileSystem) -> FileSystem:
    """The filesystem with DATA in `/dir/a`."""
    write(fs, "/dir/a", DATA)
    return fs


class TestPaths:
    @pytest.mark.parametrize(
        "path", ["", "a", "a/b", "/a/../b", "/..", "/a\0b", "gopher://localhost/dir/a"]
    )
    def test_a_path_of_no_file_here_fails_in_the_future(self, held: FileSystem, path: str) -> None:
        """Neither `open_file` nor `build` raises; the local part of a foreign path is ignored."""
        future = held.open_file(path).build()
        assert isinstance(future.exception(), IllegalArgumentException)

    def test_path_that_is_not_a_string_fails_in_the_future(self, held: FileSystem) -> None:
        given: Any = PurePosixPath("/dir/a")
        future = held.open_file(given).build()
        assert isinstance(future.exception(), IllegalArgumentException)

    def test_equivalent_paths_are_accepted(self, held: FileSystem) -> None:
        status = held.get_file_status("/dir/a")
        for path in ("//dir/./a", "/dir/a/", "/dir/a/."):
            future = held.open_file(path).with_file_status(status).build()
            with future.result() as stream:
                assert rest_of(stream) == DATA


class TestStatus:
    @pytest.mark.parametrize(
        "path",
        ["/dir/a", "/a", "a", "/x/y/a", "gopher://localhost/dir/name/a", "s3://b/a/", "/a/."],
    )
    def test_only_the_last_element_of_its_path_counts(self, held: FileSystem, path: str) -> None:
        """With any parents and scheme."""
        status = replace(held.get_file_status("/dir/a"), path=path)
        with built(held, status).result() as stream:
            assert rest_of(stream) == DATA

    @pytest.mark.parametrize("path", ["/dir/b", "/dir/a/b", "/dir", "/", "a?", "/dir/A", "", None])
    def test_another_name_fails_in_the_future(self, held: FileSystem, path: Any) -> None:
        """A missing name is different, too."""
        write(held, "/dir/b", DATA)
        status = replace(held.get_file_status("/dir/a"), path=path)
        assert isinstance(built(held, status).exception(), IllegalArgumentException)

    @pytest.mark.parametrize(("path", "given"), [("/", ""), ("/", None), ("/None", None)])
    def test_empty_name_matches_no_file(self, fs: FileSystem, path: str, given: Any) -> None:
        """Neither of the root nor of a file with an empty name."""
        write(fs, "/None", DATA)
        future = fs.open_file(path).with_file_status(FileStatus(given, 1)).build()
        assert isinstance(future.exception(), IllegalArgumentException)

    def test_other_status_classes_are_accepted(self, held: FileSystem) -> None:
        """Duck types, and statuses with locations."""

        class Foreign:
            path = "hdfs://x/a"
            length = 7
            is_directory = False

        foreign: Any = Foreign()
        located = LocatedFileStatus("/a", 7, block_locations=(BlockLocation(0, 7, ("here",)),))
        for status in (foreign, located):
            with built(held, status).result() as stream:
                assert rest_of(stream) == DATA[:7]

    @pytest.mark.parametrize("length", [-1, None, "7"])
    def test_invalid_length_is_ignored(self, held: FileSystem, length: Any) -> None:
        with built(held, FileStatus("/a", length)).result() as stream:
            assert rest_of(stream) == DATA
        with built(held, FileStatus("/a", length), {LENGTH: 3}).result() as stream:
            assert rest_of(stream) == DATA[:3]

    @pytest.mark.parametrize("status", [None, FileStatus("/b", 9), FileStatus("/a", 9)])
    def test_the_last_one_given_counts(self, held: FileSystem, status: FileStatus | None) -> None:
        builder = held.open_file("/dir/a").with_file_status(status)
        with builder.with_file_status(FileStatus("/a", 5)).build().result() as stream:
            assert rest_of(stream) == DATA[:5]
        with builder.with_file_status(None).build().result() as stream:
            assert rest_of(stream) == DATA

    def test_later_builder_calls_do_not_affect_streams(self, held: FileSystem) -> None:
        """Each `build` uses the options set so far."""
        builder = held.open_file("/dir/a").opt_long(LENGTH, 5)
        first = builder.build()
        second = builder.opt_long(LENGTH, 50).build()
        with first.result() as one, second.result() as two:
            one.seek(3)
            assert two.get_pos() == 0
            assert rest_of(two) == DATA[:50]
            two.close()
            assert rest_of(one) == DATA[3:5]


class TestNoFile:
    @pytest.mark.parametrize("length", [None, 0, 5])
    @pytest.mark.parametrize("way", ["status", "option"])
    @pytest.mark.parametrize(("path", "name"), [("/missing", "missing"), ("/dir", "dir")])
    def test_a_declared_length_makes_no_file(
        self, held: FileSystem, path: str, name: str, way: str, length: int | None
    ) -> None:
        """Even if a status claims that it is one."""
        builder = held.open_file(path)
        if way == "status":
            builder.with_file_status(FileStatus(f"/{name}", -1 if length is None else length))
        elif length is not None:
            builder.opt_long(LENGTH, length)
        assert isinstance(builder.build().exception(), FileNotFoundException)

    @pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
    def test_an_open_that_fails_holds_nothing(self, local: LocalFileSystem) -> None:
        """Although the future keeps the error and its traceback."""
        local.mkdirs("/dir")
        write(local, "/a", b"x")
        futures = [
            local.open_file("/dir").build(),
            local.open_file("/dir").opt_long(LENGTH, 5).build(),
            local.open_file("/a").with_file_status(FileStatus("/a", 1, etag="old")).build(),
        ]
        assert all(future.exception() for future in futures)
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        names = [os.readlink(link) for link in links if os.path.lexists(link)]
        assert [name for name in names if name.startswith(local.root)] == []

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
    def test_pipe_is_rejected_immediately_with_any_length(self, local: LocalFileSystem) -> None:
        local.mkdirs("/")
        os.mkfifo(Path(local.root, "pipe"))
        future = local.open_file("/pipe").opt_long(LENGTH, 5).build()
        assert isinstance(future.exception(), OSError)


def stages(stream: FSDataInputStream, end: int) -> list[object]:
    """Return the result of every kind of read at and around `end`."""
    buffer, seen = bytearray(8), list[object]()
    stream.seek(end - 3)
    seen += [stream.read_byte(), stream.read_into(buffer), stream.read_byte()]
    seen += [stream.read_into(buffer), stream.get_pos(), stream.pread(end - 2, buffer)]
    seen += [stream.pread(end, buffer), stream.pread(end + 1, buffer)]
    for read_at in (end - 7, end):
        with pytest.raises(EOFException):
            stream.read_fully(read_at, buffer)
    return seen


class TestDeclaredLength:
    @pytest.mark.parametrize("footer", [0, 1])
    @pytest.mark.parametrize("size", [0, 5, 4096])
    @pytest.mark.parametrize("way", ["status", "option"])
    def test_a_shorter_one_is_where_the_stream_ends(
        self, held: FileSystem, way: str, size: int, footer: int
    ) -> None:
        """For every kind of read, as if the file had no more bytes."""
        status = FileStatus("/a", 40) if way == "status" else None
        builder = held.open_file("/dir/a").with_file_status(status).opt(BUFFER_SIZE, size)
        builder.opt_long(LENGTH, 40).opt(FOOTER_CACHE, bool(footer))
        with builder.build().result() as stream:
            assert stages(stream, 40) == [37, 2, -1, -1, 40, 2, -1, -1]
            with pytest.raises(EOFException):
                stream.seek(41)
            with pytest.raises(EOFException):
                stream.read_vectored([FileRange(38, 3)])
            assert stream.available() == 0
            assert stream.as_file().seek(-1, os.SEEK_END) == 39
            stream.seek(0)
            assert rest_of(stream) == DATA[:40]

    @pytest.mark.parametrize("footer", [0, 1])
    @pytest.mark.parametrize("size", [0, 5, 4096, 1 << 21])
    @pytest.mark.parametrize("length", BEYOND)
    def test_longer_declared_length_ends_at_eof(
        self, held: FileSystem, length: int, size: int, footer: int
    ) -> None:
        """Reads end at the actual EOF, for any position."""
        builder = held.open_file("/dir/a").opt_long(LENGTH, length).opt(BUFFER_SIZE, size)
        with builder.opt(FOOTER_CACHE, bool(footer)).build().result() as stream:
            assert stages(stream, 100) == [97, 2, -1, -1, 100, 2, -1, -1]
            stream.seek(length)
            assert stream.get_pos() == length
            assert stream.read_byte() == stream.read_into(bytearray(3)) == -1
            ranges = [FileRange(90, 10), FileRange(100, 1)]
            stream.read_vectored(ranges)
            first, second = (part.data for part in ranges)
            assert first is not None
            assert second is not None
            assert bytes(first.result()) == DATA[90:]
            assert isinstance(second.exception(), EOFException)
            with pytest.raises(EOFException):
                stream.seek(length + 1)

    @pytest.mark.parametrize("length", [10, 100, *BEYOND])
    def test_a_python_file_reads_to_the_end(self, held: FileSystem, length: int) -> None:
        """No memory is allocated for bytes that are only declared."""
        with built(held, None, {LENGTH: length}).result() as stream:
            file = stream.as_file()
            assert file.read() == DATA[:length]
            assert file.read() == b""

    def test_a_python_file_reads_blocks(
        self, held: FileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Files of several blocks, or of exactly one."""
        for size in (1, 7, 50, 99, 100, 101):
            monkeypatch.setattr("fscontract.implementations.file_adapter._AT_ONCE", size)
            with held.open("/dir/a") as stream:
                assert stream.as_file().read() == DATA

    def test_nothing_is_a_length(self, held: FileSystem) -> None:
        for future in (built(held, None, {LENGTH: 0}), built(held, FileStatus("/a", 0))):
            with future.result() as stream:
                assert stream.read_byte() == stream.pread(0, bytearray(1)) == -1
                assert stream.as_file().read() == b""

    def test_length_of_a_status_overrides_the_option(self, held: FileSystem) -> None:
        """If longer or shorter than the option, set before or after it."""
        for length in (3, 60):
            for status in (FileStatus("/a", 10), FileStatus("/a", 10, is_directory=False)):
                with built(held, status, {LENGTH: length}).result() as stream:
                    assert rest_of(stream) == DATA[:10]

    def test_a_directory_has_none(self, held: FileSystem) -> None:
        status = FileStatus("/a", 10, is_directory=True)
        with built(held, status, {LENGTH: 20}).result() as stream:
            assert rest_of(stream) == DATA[:20]

    @pytest.mark.parametrize(("start", "end"), [(10, 20), (20, 10), (0, 0), (200, 300)])
    def test_a_split_limits_nothing(self, held: FileSystem, start: int, end: int) -> None:
        """The stream begins at 0 and ends at EOF, or at its declared length."""
        with built(held, None, {SPLIT_START: start, SPLIT_END: end}).result() as stream:
            assert stream.get_pos() == 0
            assert rest_of(stream) == DATA
        with built(held, None, {LENGTH: 50, SPLIT_START: start, SPLIT_END: end}).result() as stream:
            assert rest_of(stream) == DATA[:50]

    def test_it_outlives_unbuffer(self, held: FileSystem) -> None:
        with built(held, None, {LENGTH: 50}).result() as stream:
            stream.read_byte()
            stream.unbuffer()
            assert rest_of(stream) == DATA[1:50]


def in_place(fs: FileSystem) -> None:
    """Change the file's bytes in place, at a time that the clock can resolve."""
    if isinstance(fs, LocalFileSystem):
        path = Path(fs.root, "dir/a")
        path.write_bytes(DATA[::-1])
        os.utime(path, ns=(1, 1))
    else:
        write(fs, "/dir/a", DATA[::-1])


class TestVersions:
    @pytest.mark.parametrize("change", [in_place, lambda fs: write(fs, "/dir/a", DATA)])
    @pytest.mark.parametrize("path", ["/dir/a", "gopher://localhost/a"])
    def test_outdated_status_is_detected(
        self, held: FileSystem, change: Callable[[FileSystem], None], path: str
    ) -> None:
        """Even if the length is unchanged, or the bytes are restored."""
        status = replace(held.get_file_status("/dir/a"), path=path)
        change(held)
        error = built(held, status).exception()
        assert isinstance(error, RemoteFileChangedException)
        assert error.path == "/dir/a"

    def test_a_status_of_now_opens_the_file_of_now(self, held: FileSystem) -> None:
        in_place(held)
        with built(held, held.get_file_status("/dir/a")).result() as stream:
            assert rest_of(stream) == DATA[::-1] == read(held, "/dir/a")

    def test_a_version_can_be_pinned_with_another_length(self, held: FileSystem) -> None:
        status = replace(held.get_file_status("/dir/a"), length=5)
        with built(held, status).result() as stream:
            assert rest_of(stream) == DATA[:5]

    def test_a_status_that_says_no_version_pins_none(self, held: FileSystem) -> None:
        status = replace(held.get_file_status("/dir/a"), etag=None)
        in_place(held)
        with built(held, status).result() as stream:
            assert rest_of(stream) == DATA[::-1]

    @pytest.mark.parametrize("pinned", [True, False])
    def test_a_file_that_changed_is_not_reopened(
        self, local: LocalFileSystem, pinned: bool
    ) -> None:
        """Even if the stream had not checked it before unbuffer."""
        write(local, "/dir/a", DATA)
        status = local.get_file_status("/dir/a")
        with built(local, status if pinned else replace(status, etag=None)).result() as stream:
            stream.unbuffer()
            in_place(local)
            with pytest.raises(RemoteFileChangedException):
                stream.read_byte()
            with pytest.raises(RemoteFileChangedException):
                stream.pread(0, bytearray(1))
